# claim: ln(3)
# tight: ln(3)
def randomized_response(x: replaced(0, 1)):
    if flip(1/2):
        return x
    return flip(1/2)
