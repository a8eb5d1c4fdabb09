# claim: 1
# about: odd noise on even noise
def even_and_odd_noise(x: each(1)):
    return 2*x + 2*discrete_laplace(1) + discrete_laplace(1)
