# claim: epsilon
# public: epsilon=1
def squared_answer_right(x: each(1), epsilon):
    y = x + laplace(1/epsilon)
    return y*y
