# claim: epsilon
# public: epsilon=1
# tight: 2*epsilon
# slow: the list has no end
# about: the length of the list is the noisy count, with half the noise
def as_many_entries_as_counted(x: each(1, whole(0, 4)), epsilon):
    n = max(0, x + discrete_laplace(1/(2*epsilon)))
    out = []
    i = 0
    while i < n:
        out.append(0)
        i += 1
    return out
