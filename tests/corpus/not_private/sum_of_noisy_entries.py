# claim: epsilon
# public: epsilon=1
# tight: 3*epsilon
# slow: takes seconds
# about: all entries move, and only their sum is hidden
def sum_of_noisy_entries(q: each(1), epsilon):
    s = 0
    for x in q:
        s = s + x + discrete_laplace(2/epsilon)
    return s
