# claim: 1
# public: scale=2
# sizes: 3
def exponential_mechanism(scores: each(1, whole(0, 2)), scale):
    best = max(scores)
    while True:
        i = uniform(len(scores))
        if flip_exp((best - scores[i]) / scale):
            return i
