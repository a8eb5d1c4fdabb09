# claim: epsilon
# public: epsilon=1
# tight: 2*epsilon
# about: low values need both answers to be low
def larger_of_two_whole_answers(x: each(1, whole(0, 2)), epsilon):
    a = x + discrete_laplace(1/epsilon)
    b = x + discrete_laplace(1/epsilon)
    if a > b:
        return a
    return b
