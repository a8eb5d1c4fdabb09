# claim: 2*epsilon
# public: epsilon=1
# tight: 3*epsilon
# sizes: 4
# about: every entry is in three sums, which pay once
def tree_of_sums(q: one(1), epsilon):
    a = q[0] + q[1]
    b = q[2] + q[3]
    return [a + b + laplace(1/epsilon), a + laplace(1/epsilon), b + laplace(1/epsilon), q[0] + laplace(1/epsilon), q[1] + laplace(1/epsilon), q[2] + laplace(1/epsilon), q[3] + laplace(1/epsilon)]
