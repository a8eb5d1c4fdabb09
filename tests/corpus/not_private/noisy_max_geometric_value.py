# claim: epsilon
# public: epsilon=1
# tight: infinity
# about: the winner with its value, under one-sided noise
def noisy_max_geometric_value(q: each(1), epsilon):
    best = 0
    top = 0
    for i in range(len(q)):
        v = q[i] + geometric(1/2)
        if i == 0 or v > top:
            top = v
            best = i
    return [best, top]
