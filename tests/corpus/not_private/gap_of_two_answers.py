# claim: epsilon/2
# public: epsilon=1
# tight: epsilon
def gap_of_two_answers(a: each(1), b: each(1), epsilon):
    u = a + laplace(2/epsilon)
    v = b + laplace(2/epsilon)
    if u > v:
        return [0, u - v]
    return [1, v - u]
