# claim: 5
# sizes: 1, 2, 3
# tight: infinity
# about: one coin turns all entries or none
def one_coin_for_all(q: replaced(0, 1)):
    b = flip(3/4)
    return [v if b else 1 - v for v in q]
