# claim: epsilon/5
# public: epsilon=1
# tight: epsilon/4
def two_kinds_of_noise_added(x: each(1), epsilon):
    return x + laplace(2/epsilon) + discrete_laplace(4/epsilon)
