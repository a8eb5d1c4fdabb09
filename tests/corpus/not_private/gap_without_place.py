# claim: epsilon/2
# public: epsilon=1, T=0
# sizes: 6
# tight: epsilon
# slow: takes seconds
# about: sparse vector at twice its budget, where the gap alone is told and not which query it was
def gap_without_place(q: each(1), T, epsilon):
    t = T + laplace(2/epsilon)
    for v in q:
        y = v + laplace(4/epsilon)
        if y > t:
            return y - t
    return -1
