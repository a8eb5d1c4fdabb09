# claim: 3/5
# tight: grows
# about: every entry is sampled with probability 1/2, but the claim is too low by a little: ln(1 + (e - 1)/2) is 0.62
def sampled_entries_count_once(q: replaced(0, 1)):
    s = 0
    for v in q:
        if flip(1/2):
            s += v
    return s + discrete_laplace(1)
