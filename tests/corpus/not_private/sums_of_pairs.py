# claim: epsilon
# public: epsilon=1
# tight: 3/2*epsilon
# sizes: 3
# about: every entry is in three of four sums
def sums_of_pairs(q: one(1), epsilon):
    return [q[0] + q[1] + discrete_laplace(2/epsilon), q[1] + q[2] + discrete_laplace(2/epsilon), q[0] + q[2] + discrete_laplace(2/epsilon), q[0] + q[1] + q[2] + discrete_laplace(2/epsilon)]
