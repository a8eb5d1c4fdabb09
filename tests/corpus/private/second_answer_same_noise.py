# claim: epsilon
# public: epsilon=1
# about: the branch does not change the noise
def second_answer_same_noise(q: one(1), epsilon):
    a = sum(q) + laplace(2/epsilon)
    if a > 10:
        return [a, sum(q) + laplace(2/epsilon)]
    return [a, sum(q) + laplace(2/epsilon)]
