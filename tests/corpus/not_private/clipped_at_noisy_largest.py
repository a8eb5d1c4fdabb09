# claim: 3*epsilon
# public: epsilon=1
# tight: grows
# slow: long lists have many ways
# about: the largest entry of 0 to 4 gets noise for one that moves by 1
def clipped_at_noisy_largest(q: replaced(between(0, 4)), epsilon):
    m = max(q) + laplace(1/epsilon)
    s = 0
    for v in q:
        s += min(v, m)
    return s + laplace(1/epsilon)
