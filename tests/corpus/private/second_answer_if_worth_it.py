# claim: epsilon
# public: epsilon=1
# about: a second answer only if the first was large
def second_answer_if_worth_it(q: one(1), epsilon):
    s = sum(q)
    a = s + laplace(2/epsilon)
    if a > 0:
        return [a, s + laplace(2/epsilon)]
    return [a, 0]
