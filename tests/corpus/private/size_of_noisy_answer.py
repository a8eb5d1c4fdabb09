# claim: 1
# about: the sign is dropped after the noise
def size_of_noisy_answer(x: each(1)):
    return abs(x + laplace(1))
