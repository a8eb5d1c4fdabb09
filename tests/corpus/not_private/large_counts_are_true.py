# claim: epsilon
# public: T=1/2, epsilon=1
# tight: infinity
# about: counts above 3 are told as they are
def large_counts_are_true(q: replaced(between(0, 1)), T, epsilon):
    c = 0
    for x in q:
        if x > T:
            c = c + 1
    if c > 3:
        return c
    return c + laplace(1/epsilon)
