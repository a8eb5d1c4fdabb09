# claim: epsilon
# public: epsilon=1
# sizes: 1, 2, 3
# tight: 2*epsilon
# slow: takes a second
# about: a replaced entry changes two cells
def histogram_two_cells(q: replaced(0, 1, 2), epsilon):
    c = [0, 0, 0]
    for x in q:
        c[x] = c[x] + 1
    return [v + discrete_laplace(1/epsilon) for v in c]
