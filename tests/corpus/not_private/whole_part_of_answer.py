# claim: epsilon
# public: epsilon=1
# tight: 2*epsilon
# about: half the noise, and only the whole part is told
def whole_part_of_answer(x: each(1), epsilon):
    y = x + laplace(1/(2*epsilon))
    return y // 1
