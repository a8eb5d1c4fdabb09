# claim: epsilon
# public: epsilon=1, T=0, N=1
# sizes: 4
def num_svt(q: each(1), T, N, epsilon):
    out = []
    bar = T + laplace(3 / epsilon)
    count = 0
    i = 0
    while count < N and i < len(q):
        if q[i] + laplace(6 * N / epsilon) >= bar:
            out.append(q[i] + laplace(3 * N / epsilon))
            count += 1
        else:
            out.append(0)
        i += 1
    return out
