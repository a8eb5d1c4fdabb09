# claim: epsilon
# public: epsilon=1, T=0
# tight: 3/2*epsilon
# slow: takes a second
# about: the noisy threshold is told at the end, so it hides nothing
def svt_shows_threshold(q: each(1), T, epsilon):
    bar = T + laplace(2/epsilon)
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
    return [out, bar]
