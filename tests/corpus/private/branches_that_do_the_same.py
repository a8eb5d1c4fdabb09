# claim: epsilon
# public: epsilon=1
# about: the branches look different
def branches_that_do_the_same(x: each(1), epsilon):
    if x > 0:
        return x + laplace(1/epsilon)
    z = laplace(1/epsilon)
    return z + x
