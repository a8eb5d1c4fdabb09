# claim: epsilon
# public: epsilon=1, T=0, N=1
# sizes: 6
# tight: grows
# about: no bound on positive answers (Lyu-Su-Li 2017, Algorithm 6)
def bad_svt_2(q: each(1), T, N, epsilon):
    out = []
    bar = T + laplace(2 / epsilon)
    count = 0
    i = 0
    while i < len(q):
        noisy = q[i] + laplace(2 / epsilon)
        if noisy >= bar:
            out.append(1)
            count += 1
        else:
            out.append(0)
        i += 1
    return out
