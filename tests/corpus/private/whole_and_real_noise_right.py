# claim: epsilon/2
# public: epsilon=1
def whole_and_real_noise_right(x: each(1), epsilon):
    bar = laplace(2/epsilon)
    if x + discrete_laplace(1/epsilon) > bar:
        return 1
    return 0
