# claim: 1
# slow: takes a second
# about: three thirds of a step are one
def third_steps(x: each(1/3)):
    return 3*x + discrete_laplace(1) + discrete_laplace(1)
