# claim: 1
# tight: infinity
# about: an odd input is never equal to an even draw
def equal_to_even_draw(x: each(1)):
    a = discrete_laplace(1)
    b = discrete_laplace(1)
    if 2*a + 2*b == x:
        return 1
    return 0
