# claim: epsilon
# public: epsilon=1
# sizes: 2
# tight: epsilon
def parts_by_value(d: added(0, 1), epsilon):
    ones = 0
    for v in d:
        ones += v
    return [ones + laplace(1 / epsilon), len(d) - ones + laplace(1 / epsilon)]
