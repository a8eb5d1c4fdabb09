# claim: epsilon
# public: epsilon=1
# about: a coin turns the noise around
def coin_turns_noise(x: each(1), epsilon):
    if flip(1/2):
        return x + laplace(1/epsilon)
    return x - laplace(1/epsilon)
