# claim: epsilon
# public: epsilon=1
# tight: 5*epsilon
# about: entries up to 5 are summed as if they were at most 1
def sum_not_clamped(q: replaced(between(0, 5)), epsilon):
    return sum(q) + laplace(1/epsilon)
