# claim: epsilon
# public: epsilon=1
# tight: epsilon
def laplace_mechanism(value: each(1), epsilon):
    return value + laplace(1 / epsilon)
