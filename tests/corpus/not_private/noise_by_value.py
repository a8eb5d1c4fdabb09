# claim: 20
# tight: grows
# about: the scale of the noise depends on the value: far out no epsilon is enough
def noise_by_value(x: each(1, whole(0, 5))):
    return x + laplace(1/(1 + x))
