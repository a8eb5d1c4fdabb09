# claim: epsilon
# public: epsilon=1
# tight: 6*epsilon
# slow: takes a second
# about: running sums until one is large
def running_sums_that_stop(q: one(1), epsilon):
    s = 0
    out = []
    i = 0
    last = 0
    while i < len(q) and last < 5:
        s = s + q[i]
        last = s + laplace(1/epsilon)
        out.append(last)
        i = i + 1
    return out
