# claim: epsilon
# public: epsilon=1
# tight: infinity
# about: the sum of two even draws keeps the parity of the input
def even_noise(x: each(1), epsilon):
    return x + 2*discrete_laplace(1/epsilon) + 2*discrete_laplace(1/epsilon)
