# claim: epsilon
# public: epsilon=1
# tight: 2*epsilon
# about: neighbours are half a step apart, and two halves are one
def half_steps(x: each(1/2), epsilon):
    return 2*x + discrete_laplace(1/(2*epsilon))
