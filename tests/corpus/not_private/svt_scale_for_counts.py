# claim: epsilon
# public: epsilon=1, T=0
# tight: 3/2*epsilon
# slow: takes seconds
# about: the scale for counts, used for queries that move both ways
def svt_scale_for_counts(q: each(1), T, epsilon):
    bar = T + laplace(2/epsilon)
    out = []
    count = 0
    i = 0
    while count < 1 and i < len(q):
        v = q[i] + laplace(2/epsilon)
        if v >= bar:
            out.append(1)
            count = count + 1
        else:
            out.append(0)
        i = i + 1
    return out
