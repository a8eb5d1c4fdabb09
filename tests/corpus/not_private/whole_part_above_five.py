# claim: epsilon
# public: epsilon=1
# tight: 2*epsilon
def whole_part_above_five(x: each(1), epsilon):
    y = (x + laplace(1/(2*epsilon))) // 1
    if y > 5:
        return y
    return 0
