# claim: 1
# tight: infinity
# about: both draws can be removed up to parity
def sum_and_difference_of_draws(x: each(1)):
    a = discrete_laplace(1)
    b = discrete_laplace(1)
    return [x + a + b, a - b]
