# claim: epsilon
# public: epsilon=1, T=0
# tight: 3/2*epsilon
# slow: takes seconds
# about: the noise of one answer, and nobody stops
def svt_never_stops(q: each(1), T, epsilon):
    bar = T + laplace(2/epsilon)
    out = []
    count = 0
    i = 0
    while i < len(q):
        v = q[i] + laplace(4/epsilon)
        if v >= bar:
            out.append(1)
            count = count + 1
        else:
            out.append(0)
        i = i + 1
    return out
