# claim: epsilon
# public: epsilon=1
# tight: epsilon
# about: noise for the empty list, too
def mean_of_nobody(q: added(between(0, 1)), epsilon):
    if len(q) == 0:
        return laplace(1/epsilon)
    return sum(q)/len(q) + laplace(1/epsilon)
