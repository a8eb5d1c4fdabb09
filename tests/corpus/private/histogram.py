# claim: epsilon
# public: epsilon=1
# sizes: 3
# tight: epsilon
def histogram(q: one(1), epsilon):
    return [v + laplace(1 / epsilon) for v in q]
