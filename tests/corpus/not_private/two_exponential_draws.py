# claim: epsilon/2
# public: epsilon=1
# tight: epsilon
def two_exponential_draws(x: each(1, whole(0, 3)), epsilon):
    return x - discrete_exponential(2/epsilon) + discrete_exponential(1/epsilon)
