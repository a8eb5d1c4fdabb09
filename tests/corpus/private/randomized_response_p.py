# claim: ln((2-p)/(1-p))
# public: p=inside(0,1/2)
def randomized_response(x: replaced(0, 1), p):
    b = flip(p)
    if b == 1:
        o = x
    else:
        o = flip(p)
    return o
