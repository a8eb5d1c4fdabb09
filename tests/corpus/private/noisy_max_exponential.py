# claim: epsilon
# public: epsilon=1
# sizes: 3
def noisy_max(q: each(1), epsilon):
    best = 0
    highest = 0
    for i in range(len(q)):
        noisy = q[i] + exponential(2 / epsilon)
        if i == 0 or noisy > highest:
            highest = noisy
            best = i
    return best
