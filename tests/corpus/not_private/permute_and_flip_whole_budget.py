# claim: epsilon
# public: epsilon=1
# tight: 2*epsilon
# sizes: 2
# about: the coin forgets that scores move by one each
def permute_and_flip_whole_budget(q: each(1, whole(0, 4)), epsilon):
    top = max(q[0], q[1])
    first = uniform(2)
    if flip_exp(epsilon*(top - q[first])):
        return first
    return 1 - first
