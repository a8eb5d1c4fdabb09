# claim: epsilon
# public: epsilon=1
# tight: infinity
# about: after a noisy test the true sum is told
def test_then_truth(q: replaced(between(0, 10)), epsilon):
    s = sum(q)
    d = 5 - s
    if d + laplace(1/epsilon) > 3:
        return s
    return -1
