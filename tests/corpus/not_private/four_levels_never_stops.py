# claim: epsilon
# public: epsilon=1
# sizes: 6
# tight: 3*epsilon/2
# slow: 4096 ways
# about: every answer is one of four levels, and nothing stops it
def four_levels_never_stops(q: each(1), epsilon):
    bar = laplace(2/epsilon)
    out = []
    for v in q:
        z = v + laplace(4/epsilon)
        if z > bar + 4:
            out.append(3)
        elif z > bar + 2:
            out.append(2)
        elif z > bar:
            out.append(1)
        else:
            out.append(0)
    return out
