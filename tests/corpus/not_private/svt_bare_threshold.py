# claim: epsilon
# public: epsilon=1, T=0
# tight: 3/2*epsilon
# about: no noise on the threshold, so every refusal costs
def svt_bare_threshold(q: each(1), T, epsilon):
    bar = T + 0
    out = []
    count = 0
    i = 0
    while count < 1 and i < len(q):
        v = q[i] + laplace(4/epsilon)
        if v >= bar:
            out.append(1)
            count = count + 1
        else:
            out.append(0)
        i = i + 1
    return out
