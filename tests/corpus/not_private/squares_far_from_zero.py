# claim: 5*epsilon
# public: epsilon=1
# tight: 13*epsilon
# sizes: 2
# about: squares of entries up to 7 move by 13
def squares_far_from_zero(q: one(1, between(5, 7)), epsilon):
    return sum(v*v for v in q) + laplace(1/epsilon)
