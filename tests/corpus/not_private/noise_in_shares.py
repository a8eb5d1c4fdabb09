# claim: epsilon
# public: epsilon=1
# tight: 2*epsilon
# about: everybody adds half the noise, and somebody may be alone
def noise_in_shares(q: one(1), epsilon):
    s = 0
    for x in q:
        s = s + x + laplace(1/(2*epsilon))
    return s
