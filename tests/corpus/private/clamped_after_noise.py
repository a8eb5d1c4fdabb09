# claim: epsilon
# public: epsilon=1
# about: clamping what is already noisy
def clamped_after_noise(x: each(1), epsilon):
    return min(3, max(-3, x + discrete_laplace(1/epsilon)))
