# claim: 5*epsilon
# public: epsilon=1
# tight: grows
# slow: the tries have no end
def tries_are_told(x: each(1, whole(0, 4)), epsilon):
    y = x + discrete_laplace(1/epsilon)
    tries = 1
    while y < 0:
        y = x + discrete_laplace(1/epsilon)
        tries += 1
    return [y, tries]
