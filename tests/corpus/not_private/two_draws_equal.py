# claim: 1/4*epsilon
# public: epsilon=1
# tight: 1/2*epsilon
# about: the only answer is whether two noisy numbers are equal
def two_draws_equal(x: each(1), epsilon):
    if x + discrete_laplace(2/epsilon) == discrete_laplace(2/epsilon):
        return 1
    return 0
