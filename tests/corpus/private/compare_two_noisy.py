# claim: epsilon
# public: epsilon=1
# sizes: 2
# about: which of two is larger, both noisy
def compare_two_noisy(q: each(1), epsilon):
    return q[0] + discrete_laplace(2/epsilon) >= q[1] + discrete_laplace(2/epsilon)
