# claim: epsilon
# public: epsilon=1
# about: three functions of one noisy answer
def one_answer_three_times(x: each(1), epsilon):
    y = x + laplace(1/epsilon)
    return [y, 2*y, y - 1]
