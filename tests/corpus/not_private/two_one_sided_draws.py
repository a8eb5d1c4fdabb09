# claim: epsilon
# public: epsilon=1
# tight: infinity
# about: one-sided noise twice is still one-sided
def two_one_sided_draws(x: each(1), epsilon):
    return x + geometric(1/2) + geometric(1/2)
