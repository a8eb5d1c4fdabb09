# claim: epsilon
# public: epsilon=1, T=0, N=1
# sizes: 4
# tight: infinity
# about: no noise on queries (Lyu-Su-Li 2017, Algorithm 5)
def bad_svt_1(q: each(1), T, N, epsilon):
    out = []
    bar = T + laplace(2 / epsilon)
    count = 0
    i = 0
    while i < len(q):
        noisy = q[i] + 0
        if noisy >= bar:
            out.append(1)
            count += 1
        else:
            out.append(0)
        i += 1
    return out
