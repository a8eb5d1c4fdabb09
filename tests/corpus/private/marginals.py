# claim: 2*epsilon
# public: epsilon=1
# sizes: 2
def marginals(d: replaced(0, 1, 2, 3), epsilon):
    high = 0
    odd = 0
    for v in d:
        high += v // 2
        odd += v % 2
    return [high + laplace(1 / epsilon), odd + laplace(1 / epsilon)]
