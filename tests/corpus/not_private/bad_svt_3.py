# claim: epsilon
# public: epsilon=1, T=0, N=1
# sizes: 4
# tight: 7*epsilon/4
# about: Lyu-Su-Li 2017, Algorithm 4
def bad_svt_3(q: each(1), T, N, epsilon):
    out = []
    bar = T + laplace(4 / epsilon)
    count = 0
    i = 0
    while count < N and i < len(q):
        noisy = q[i] + laplace(4 / (3 * epsilon))
        if noisy >= bar:
            out.append(1)
            count += 1
        else:
            out.append(0)
        i += 1
    return out
