# claim: 2*epsilon
# public: epsilon=1
# sizes: 2
# tight: 15*epsilon
# about: the test has noise, the answer behind it far too little
def answer_if_far_from_three(q: replaced(whole(0, 3)), epsilon):
    s = sum(q)
    if abs(s - 3) + discrete_laplace(1/epsilon) > 2:
        return s + discrete_laplace(1/(4*epsilon))
    return -100
