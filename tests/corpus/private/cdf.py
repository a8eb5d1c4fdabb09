# claim: 3*epsilon
# public: epsilon=1
# sizes: 3
# about: fractions below each of three bounds
def cdf(d: replaced(0, 1, 2, 3), epsilon):
    answers = []
    for bound in range(3):
        below = 0
        for v in d:
            if v <= bound:
                below += 1
        answers.append(below / len(d) + laplace(1 / (len(d) * epsilon)))
    return answers
