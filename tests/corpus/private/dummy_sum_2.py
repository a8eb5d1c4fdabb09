# claim: epsilon
# public: epsilon=1
# sizes: 3
# tight: epsilon
def dummy_sum_2(d: replaced(0, 1), epsilon):
    s = 0
    r = []
    for v in d:
        s += v + laplace(1 / epsilon)
        r.append(s)
    return r
