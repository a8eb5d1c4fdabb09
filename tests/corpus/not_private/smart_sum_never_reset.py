# claim: 2*epsilon
# public: epsilon=1
# tight: 4*epsilon
# about: the sum of the block goes on into the next block
def smart_sum_never_reset(q: one(1), epsilon):
    shown = 0
    inside = 0
    out = []
    for i in range(len(q)):
        if i % 2 == 1:
            shown = inside + q[i] + laplace(1/epsilon)
            inside = inside + q[i]
        else:
            shown = shown + q[i] + laplace(1/epsilon)
            inside = inside + q[i]
        out.append(shown)
    return out
