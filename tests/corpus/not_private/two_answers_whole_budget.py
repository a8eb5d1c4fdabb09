# claim: epsilon
# public: epsilon=1
# tight: 2*epsilon
# about: two answers, the whole budget for each
def two_answers_whole_budget(x: each(1), epsilon):
    return [x + laplace(1/epsilon), x + discrete_laplace(1/epsilon)]
