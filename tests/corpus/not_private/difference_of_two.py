# claim: epsilon
# public: epsilon=1
# tight: infinity
# about: two inputs with one draw: their difference is told
def difference_of_two(x: each(1), y: each(1), epsilon):
    z = laplace(1/epsilon)
    return [x + z, y + z]
