# claim: epsilon
# public: epsilon=1
# sizes: 5
# tight: size*epsilon/2
# about: returns the value
def bad_noisy_max(q: each(1), epsilon):
    best = 0
    highest = 0
    for i in range(len(q)):
        noisy = q[i] + laplace(2 / epsilon)
        if i == 0 or noisy > highest:
            highest = noisy
            best = i
    return highest
