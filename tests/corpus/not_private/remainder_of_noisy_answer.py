# claim: 7/10
# tight: grows
# about: the remainder of a noisy answer loses 0.735
def remainder_of_noisy_answer(x: each(1, whole(0, 3))):
    return (x + discrete_laplace(1)) % 3
