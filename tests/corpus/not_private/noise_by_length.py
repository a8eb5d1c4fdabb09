# claim: 20
# tight: grows
def noise_by_length(q: added(between(0, 1))):
    n = len(q)
    return sum(q) + laplace(1/n)
