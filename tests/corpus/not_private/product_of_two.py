# claim: 2*epsilon
# public: epsilon=1
# tight: 3*epsilon
# about: a product moves by more than each of its factors
def product_of_two(a: each(1, whole(0, 2)), b: each(1, whole(0, 2)), epsilon):
    return a*b + laplace(1/epsilon)
