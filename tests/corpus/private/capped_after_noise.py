# claim: epsilon
# public: epsilon=1
# about: large answers are capped
def capped_after_noise(x: each(1), epsilon):
    y = x + discrete_laplace(1/epsilon)
    if y > 5:
        return 5
    return y
