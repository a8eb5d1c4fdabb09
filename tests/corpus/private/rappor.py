# claim: 4*ln(3)
# about: one of four bits is set; each bit is told through a response
def rappor(x: replaced(0, 1, 2, 3)):
    told = []
    for i in range(4):
        bit = 1 if i == x else 0
        told.append(bit if flip(3/4) else 1 - bit)
    return told
