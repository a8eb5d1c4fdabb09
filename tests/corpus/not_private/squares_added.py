# claim: epsilon
# public: epsilon=1
# sizes: 2
# slow: takes seconds
# about: noise for one entry, and all of them move: it loses twice epsilon
def squares_added(q: each(1), epsilon):
    s = 0
    for v in q:
        y = v + laplace(1/epsilon)
        s += y * y
    return s
