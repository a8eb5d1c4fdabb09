# claim: 5*epsilon
# public: epsilon=1
# about: far out, the noise of one input falls faster than that of the other
def wider_noise_for_some(x: each(1, whole(0, 1)), epsilon):
    noise = discrete_laplace(1/epsilon)
    if x > 0:
        noise = noise + discrete_laplace(2/epsilon)
    return x + noise
