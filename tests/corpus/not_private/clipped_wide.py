# claim: 3*epsilon
# public: epsilon=1
# tight: 9*epsilon
# slow: takes seconds
# about: entries are clipped to a range of 3 and get noise for 2
def clipped_wide(q: each(4), epsilon):
    return [min(3, max(0, x)) + laplace(2/epsilon) for x in q]
