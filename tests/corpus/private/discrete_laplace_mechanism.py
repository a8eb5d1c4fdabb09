# claim: epsilon
# public: epsilon=1
# tight: epsilon
def discrete_laplace_mechanism(value: each(1, whole(-9, 9)), epsilon):
    return value + discrete_laplace(1 / epsilon)
