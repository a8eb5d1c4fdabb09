# claim: 100
# sizes: 2
# tight: infinity
def mean(d: replaced(0, 1)):
    total = 0
    for v in d:
        total += v
    return total / len(d)
