# claim: epsilon
# public: epsilon=1, T=0, N=2
# sizes: 4
def svt_two(q: each(1), T, N, epsilon):
    out = []
    bar = T + laplace(2 / epsilon)
    count = 0
    i = 0
    while count < N and i < len(q):
        noisy = q[i] + laplace(4 * N / epsilon)
        if noisy >= bar:
            out.append(1)
            count += 1
        else:
            out.append(0)
        i += 1
    return out
