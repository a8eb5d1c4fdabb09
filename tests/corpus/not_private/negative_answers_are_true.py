# claim: epsilon
# public: epsilon=1
# tight: infinity
# about: where the noisy answer is negative the true one is told
def negative_answers_are_true(x: each(1), epsilon):
    y = x + laplace(1/epsilon)
    if y < 0:
        return x
    return y
