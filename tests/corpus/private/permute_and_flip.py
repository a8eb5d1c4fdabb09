# claim: 1
# public: scale=2
# sizes: 3
def permute_and_flip(scores: each(1, whole(0, 2)), scale):
    best = max(scores)
    waiting = [i for i in range(len(scores))]
    while True:
        i = waiting.pop(uniform(len(waiting)))
        if flip_exp((best - scores[i]) / scale):
            return i
