# claim: ln(9)
# sizes: 2
def parity_with_noise(x: replaced(0, 1)):
    parity = 0
    for v in x:
        parity = parity ^ v
    return parity if flip(9/10) else 1 - parity
