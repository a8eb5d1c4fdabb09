# claim: 5*epsilon
# public: epsilon=1
# tight: infinity
# about: nothing is drawn for the empty list
def count_of_somebody(q: added(0, 1), epsilon):
    if len(q) == 0:
        return 0
    y = len(q) + laplace(1/epsilon)
    return y if y > 5 else 0
