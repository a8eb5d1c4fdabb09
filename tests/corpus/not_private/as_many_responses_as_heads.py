# claim: 5
# tight: grows
# slow: the coins have no end
# about: one bit is answered again and again, as often as a coin says
def as_many_responses_as_heads(x: replaced(0, 1)):
    out = []
    for i in range(geometric(1/2)):
        out.append(x if flip(2/3) else 1 - x)
    return out
