# claim: epsilon
# public: epsilon=1
# tight: infinity
# about: noise beyond 3 is cut off
def noise_cut_off(x: each(1), epsilon):
    z = discrete_laplace(1/epsilon)
    return x + min(3, max(-3, z))
