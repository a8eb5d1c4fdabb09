# claim: ln(1+epsilon)
# public: epsilon=1
# tight: epsilon
# about: a ratio of at most 1 + epsilon is not e^epsilon
def literal_ratio(value: each(1), epsilon):
    return value + laplace(1 / epsilon)
