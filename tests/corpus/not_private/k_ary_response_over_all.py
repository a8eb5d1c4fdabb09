# claim: ln(9)
# tight: ln(13)
# about: otherwise any of all four, where any of the other three was meant
def k_ary_response_over_all(x: replaced(0, 1, 2, 3)):
    return x if flip(3/4) else uniform(4)
