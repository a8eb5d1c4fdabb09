# claim: epsilon/4
# public: epsilon=1
# tight: epsilon/2
# about: a threshold with continuous noise, an answer with whole noise
def whole_and_real_noise(x: each(1), epsilon):
    bar = laplace(2/epsilon)
    if x + discrete_laplace(1/epsilon) > bar:
        return 1
    return 0
