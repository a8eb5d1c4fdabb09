# claim: epsilon
# public: epsilon=1, T=0
# tight: infinity
# about: one draw for all queries: they are ordered without noise
def svt_one_draw_for_all(q: each(1), T, epsilon):
    bar = T + laplace(2/epsilon)
    z = laplace(4/epsilon)
    out = []
    count = 0
    i = 0
    while count < 1 and i < len(q):
        v = q[i] + z
        if v >= bar:
            out.append(1)
            count = count + 1
        else:
            out.append(0)
        i = i + 1
    return out
