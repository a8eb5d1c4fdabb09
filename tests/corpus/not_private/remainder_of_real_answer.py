# claim: 1/10
# tight: grows
# slow: cells are cut finely
# about: what is left of x + noise on a circle; (e^u + e^(1 - u)) for 0 and 1/2 are 0.1201 apart
def remainder_of_real_answer(x: each(1, between(0, 1))):
    return (x + laplace(1)) % 1
