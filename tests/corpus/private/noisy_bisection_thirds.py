# claim: epsilon
# public: epsilon=1
# about: three comparisons, a third of the budget each
def noisy_bisection_thirds(q: one(1), epsilon):
    s = sum(q)
    lo = 0
    hi = 8
    out = []
    for i in range(3):
        mid = (lo + hi) / 2
        if s + laplace(3/epsilon) > mid:
            lo = mid
            out.append(1)
        else:
            hi = mid
            out.append(0)
    return out
