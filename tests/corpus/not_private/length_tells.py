# claim: epsilon
# public: epsilon=1
# sizes: 3
# tight: infinity
# about: a loop that ends at the first large entry tells where it is
def length_tells(q: one(1), epsilon):
    out = []
    i = 0
    while i < len(q) and q[i] < 3:
        out.append(q[i] + laplace(1/epsilon))
        i = i + 1
    return out
