# claim: epsilon
# public: epsilon=1
# about: two half steps are one
def half_steps_right(x: each(1/2), epsilon):
    return 2*x + discrete_laplace(1/epsilon)
