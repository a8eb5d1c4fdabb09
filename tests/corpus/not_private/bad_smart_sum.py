# claim: 2*epsilon
# public: epsilon=1, M=2
# sizes: 4
# tight: infinity
# about: no noise on blocks
def bad_smart_sum(q: one(1), M, epsilon):
    next_sum = 0
    block = 0
    out = []
    i = 0
    while i < len(q):
        if (i + 1) % M == 0:
            next_sum = block + q[i]
            block = 0
            out.append(next_sum)
        else:
            next_sum = next_sum + q[i] + laplace(1 / epsilon)
            block = block + q[i]
            out.append(next_sum)
        i += 1
    return out
