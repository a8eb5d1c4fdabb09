# claim: 5*epsilon
# public: epsilon=1, bar=777
# tight: grows
# about: large answers are rounded after a third of the noise
def less_noise_far_out(x: each(1), epsilon, bar):
    if x > bar:
        return (x + laplace(1/(3*epsilon))) // 1
    return (x + laplace(1/epsilon)) // 1
