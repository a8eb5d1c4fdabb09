# claim: epsilon
# public: epsilon=1
# tight: 3/2*epsilon
# about: three comparisons, each with the noise for two
def noisy_bisection(q: one(1), epsilon):
    s = sum(q)
    lo = 0
    hi = 8
    out = []
    for i in range(3):
        mid = (lo + hi) / 2
        if s + laplace(2/epsilon) > mid:
            lo = mid
            out.append(1)
        else:
            hi = mid
            out.append(0)
    return out
