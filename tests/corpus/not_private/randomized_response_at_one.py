# claim: 1
# tight: ln(3)
def randomized_response(x: replaced(0, 1)):
    return x if flip(1/2) else flip(1/2)
