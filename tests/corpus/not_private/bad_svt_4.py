# claim: epsilon
# public: epsilon=1, T=0, N=1
# sizes: 4
# tight: grows
# about: returns the noisy value (Lyu-Su-Li 2017, Algorithm 3)
def bad_svt_4(q: each(1), T, N, epsilon):
    out = []
    bar = T + laplace(2 / epsilon)
    count = 0
    i = 0
    while count < N and i < len(q):
        noisy = q[i] + laplace(2 * N / epsilon)
        if noisy >= bar:
            out.append(noisy)
            count += 1
        else:
            out.append(0)
        i += 1
    return out
