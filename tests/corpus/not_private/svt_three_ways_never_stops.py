# claim: epsilon
# public: epsilon=1, T=0
# sizes: 6
# slow: takes seconds
# about: gaps of two sizes, and nobody stops
def svt_three_ways_never_stops(q: each(1), T, epsilon):
    bar = T + laplace(2/epsilon)
    out = []
    i = 0
    while i < len(q):
        far = q[i] + laplace(8/epsilon)
        if far - bar >= 2:
            out.append(far - bar)
        else:
            near = q[i] + laplace(4/epsilon)
            if near - bar >= 0:
                out.append(near - bar)
            else:
                out.append(0)
        i = i + 1
    return out
