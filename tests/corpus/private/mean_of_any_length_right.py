# claim: epsilon
# public: epsilon=1
# about: noise for the mean of one
def mean_of_any_length_right(q: added(between(0, 1)), epsilon):
    return sum(q)/len(q) + laplace(1/(2*epsilon))
