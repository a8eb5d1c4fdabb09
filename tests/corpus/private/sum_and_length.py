# claim: epsilon
# public: epsilon=1
# about: how many there are is private too
def sum_and_length(q: added(0, 1), epsilon):
    return [sum(q) + discrete_laplace(2/epsilon), len(q) + discrete_laplace(2/epsilon)]
