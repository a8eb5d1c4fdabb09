# claim: epsilon/2
# public: epsilon=1
# tight: epsilon
def squared_answer(x: each(1), epsilon):
    y = x + laplace(1/epsilon)
    return y*y
