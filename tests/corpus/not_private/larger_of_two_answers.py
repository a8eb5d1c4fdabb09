# claim: epsilon
# public: epsilon=1
# tight: 2*epsilon
# about: the larger of two answers, each with the noise of one
def larger_of_two_answers(x: each(1), epsilon):
    return max(x + laplace(1/epsilon), x + laplace(1/epsilon))
