# claim: epsilon
# public: epsilon=1
# tight: 2*epsilon
# slow: takes a second
# about: half the noise, in whole numbers
def noisy_max_discrete_half_noise(q: each(1), epsilon):
    best = 0
    top = 0
    for i in range(len(q)):
        v = q[i] + discrete_laplace(1/epsilon)
        if i == 0 or v > top:
            top = v
            best = i
    return best
