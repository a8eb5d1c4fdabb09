# claim: epsilon
# public: epsilon=1/2
# about: the ratio of two sums comes near to the claim far out, and no output reaches it
def two_draws_added(x: each(1, whole(0, 3)), epsilon):
    first = x + discrete_laplace(1/epsilon)
    second = discrete_laplace(1/epsilon)
    return first + second
