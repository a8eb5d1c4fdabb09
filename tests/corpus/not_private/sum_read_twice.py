# claim: epsilon
# public: epsilon=1
# tight: 2*epsilon
# about: every entry is added in two loops
def sum_read_twice(q: one(1), epsilon):
    s = 0
    for x in q:
        s = s + x
    for x in q:
        s = s + x
    return s + laplace(1/epsilon)
