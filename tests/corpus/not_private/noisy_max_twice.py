# claim: epsilon
# public: epsilon=1
# sizes: 3
# tight: 2*epsilon
# about: two rounds, the whole budget for each
def noisy_max_twice(q: each(1), epsilon):
    out = []
    for r in range(2):
        best = 0
        top = 0
        for i in range(len(q)):
            v = q[i] + laplace(2/epsilon)
            if i == 0 or v > top:
                top = v
                best = i
        out.append(best)
    return out
