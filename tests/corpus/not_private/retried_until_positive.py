# claim: 7/5
# tight: grows
# slow: paths are looked for first
# about: answers below zero are drawn again: 1 + ln(2 - 1/e), 1.4899, for x = 0 and 1
def retried_until_positive(x: each(1, between(0, 1))):
    y = x + laplace(1)
    while y < 0:
        y = x + laplace(1)
    return y
