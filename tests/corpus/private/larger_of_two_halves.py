# claim: epsilon
# public: epsilon=1
# about: the larger of two answers with half the budget each
def larger_of_two_halves(x: each(1), epsilon):
    a = x + laplace(2/epsilon)
    b = x + laplace(2/epsilon)
    if a > b:
        return a
    return b
