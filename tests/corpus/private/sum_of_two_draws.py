# claim: 1/2*epsilon
# public: epsilon=1
# slow: takes a second
# about: two draws of twice the scale; only far out they hide as little as one
def sum_of_two_draws(x: each(1), epsilon):
    return x + discrete_laplace(2/epsilon) + discrete_laplace(2/epsilon)
