# claim: epsilon
# public: epsilon=1
# tight: 5*epsilon
# slow: takes seconds
# about: one-sided noise looks the wrong way for a minimum
def noisy_min_exponential(q: each(1), epsilon):
    best = 0
    top = 0
    for i in range(len(q)):
        v = q[i] + exponential(2/epsilon)
        if i == 0 or v < top:
            top = v
            best = i
    return best
