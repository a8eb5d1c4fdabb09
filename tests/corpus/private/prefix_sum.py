# claim: epsilon
# public: epsilon=1
# sizes: 3
# tight: epsilon
def prefix_sum(q: one(1), epsilon):
    next_sum = 0
    out = []
    for v in q:
        next_sum = next_sum + v + laplace(1 / epsilon)
        out.append(next_sum)
    return out
