# claim: 1/2
# tight: ln(2)
# about: the side that falls faster loses more
def two_geometric_draws(x: each(1, whole(0, 3))):
    return x + geometric(1/2) - geometric(1/3)
