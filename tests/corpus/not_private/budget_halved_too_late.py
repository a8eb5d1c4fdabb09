# claim: epsilon
# public: epsilon=1
# tight: 63/32*epsilon
# about: the budget is halved after it is spent
def budget_halved_too_late(x: each(1), epsilon):
    out = []
    s = epsilon
    for i in range(6):
        out.append(x + laplace(1/s))
        s = s / 2
    return out
