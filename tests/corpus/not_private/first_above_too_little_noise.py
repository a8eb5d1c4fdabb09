# claim: epsilon
# public: epsilon=1, T=0
# tight: 5/2*epsilon
# about: where the first large query is, with a quarter of the noise
def first_above_too_little_noise(q: each(1), T, epsilon):
    bar = T + laplace(2/epsilon)
    out = []
    count = 0
    i = 0
    while count < 1 and i < len(q):
        v = q[i] + laplace(1/epsilon)
        if v >= bar:
            out.append(1)
            count = count + 1
        else:
            out.append(0)
        i = i + 1
    return i
