# claim: epsilon
# public: epsilon=1
# sizes: 3
# tight: epsilon
def mean_laplace(d: replaced(between(0, 1)), epsilon):
    total = 0
    for v in d:
        total += v
    return total / len(d) + laplace(1 / (len(d) * epsilon))
