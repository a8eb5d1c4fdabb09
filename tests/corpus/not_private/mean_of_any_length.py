# claim: epsilon
# public: epsilon=1
# tight: 2*epsilon
# about: the mean of two entries moves much farther than that of seven
def mean_of_any_length(q: added(between(0, 1)), epsilon):
    return sum(q)/len(q) + laplace(1/(4*epsilon))
