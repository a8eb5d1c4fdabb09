# claim: 100
# sizes: 3
# tight: infinity
def random_point(x: replaced(0, 1)):
    j = uniform(len(x))
    return [j, x[j]]
