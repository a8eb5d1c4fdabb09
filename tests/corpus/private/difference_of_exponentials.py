# claim: epsilon
# public: epsilon=1
# about: the difference of two one-sided draws is Laplace
def difference_of_exponentials(x: each(1), epsilon):
    return x + exponential(1/epsilon) - exponential(1/epsilon)
