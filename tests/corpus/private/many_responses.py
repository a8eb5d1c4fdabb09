# claim: ln(3)
# sizes: 3
# tight: ln(3)
def many_responses(x: replaced(0, 1)):
    total = 0
    for v in x:
        total += v if flip(3/4) else 1 - v
    return total
