# claim: epsilon
# public: epsilon=1, T=0, N=1, sigma=1
# sizes: 3
def adaptive_svt(q: each(1), T, N, sigma, epsilon):
    out = []
    bar = T + laplace(2 / epsilon)
    left = epsilon / 2
    fine = epsilon / (2 * N)
    coarse = fine / 2
    i = 0
    while left >= fine and i < len(q):
        if q[i] + laplace(2 / coarse) >= bar + sigma:
            out.append(2)
            left -= coarse
        elif q[i] + laplace(2 / fine) >= bar:
            out.append(1)
            left -= fine
        else:
            out.append(0)
        i += 1
    return out
