# claim: 5*epsilon
# public: epsilon=1
# tight: grows
# slow: the coins have no end
# about: each answer pays alone, and nobody knows how many there are
def as_many_answers_as_heads(x: each(1), epsilon):
    out = []
    while flip(1/2):
        out.append(x + laplace(1/epsilon))
    return out
