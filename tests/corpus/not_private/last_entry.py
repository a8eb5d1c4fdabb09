# claim: epsilon
# public: epsilon=1
# tight: 2*epsilon
# about: the last entry alone, with noise for half its range
def last_entry(q: added(between(0, 4)), epsilon):
    return q[len(q) - 1] + laplace(2/epsilon)
