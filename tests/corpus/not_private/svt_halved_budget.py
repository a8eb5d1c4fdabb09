# claim: epsilon
# public: epsilon=1, T=0
# tight: 5/4*epsilon
# slow: takes seconds
# about: each answer spends half of what the one before did, and nobody stops
def svt_halved_budget(q: each(1), T, epsilon):
    bar = T + laplace(2/epsilon)
    scale = 1
    out = []
    count = 0
    i = 0
    while i < len(q):
        v = q[i] + laplace(4*scale/epsilon)
        if v >= bar:
            out.append(1)
            count = count + 1
            scale = 2*scale
        else:
            out.append(0)
        i = i + 1
    return out
