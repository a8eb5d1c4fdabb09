# claim: epsilon
# public: epsilon=1, T=0, N=1
# sizes: 6
# tight: size*epsilon/4
# about: returns the noisy value that was compared
def bad_gap_svt(q: each(1), T, N, epsilon):
    out = []
    bar = T + laplace(2 / epsilon)
    count = 0
    i = 0
    while count < N and i < len(q):
        noisy = q[i] + laplace(4 * N / epsilon)
        if noisy >= bar:
            out.append(noisy)
            count += 1
        else:
            out.append(0)
        i += 1
    return out
