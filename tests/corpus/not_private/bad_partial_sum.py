# claim: epsilon
# public: epsilon=1
# sizes: 4
# tight: 2*epsilon
def bad_partial_sum(q: one(1), epsilon):
    total = 0
    for v in q:
        total += v
    return total + laplace(1 / (2 * epsilon))
