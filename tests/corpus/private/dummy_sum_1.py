# claim: size*epsilon
# public: epsilon=1
# sizes: 3
# tight: size*epsilon
def dummy_sum_1(d: replaced(0, 1), epsilon):
    s = 0
    r = []
    for v in d:
        s += v
        r.append(s + laplace(1 / epsilon))
    return r
