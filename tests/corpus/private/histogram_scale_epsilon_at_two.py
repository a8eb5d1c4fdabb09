# claim: epsilon
# public: epsilon=2
# sizes: 2
# tight: 1/epsilon
def histogram_scale_epsilon(q: one(1), epsilon):
    return [v + laplace(epsilon) for v in q]
