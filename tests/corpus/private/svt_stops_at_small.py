# claim: epsilon
# public: epsilon=1, T=0
# slow: takes a second
# about: it stops at the first small query instead of the first large one
def svt_stops_at_small(q: each(1), T, epsilon):
    bar = T + laplace(2/epsilon)
    out = []
    count = 0
    i = 0
    while count > -1 and i < len(q):
        v = q[i] + laplace(4/epsilon)
        if v >= bar:
            out.append(1)
            count = count + 1
            count = count - 1
        else:
            out.append(0)
            count = 0 - 5
        i = i + 1
    return out
