# claim: 100
# public: guess=1
# tight: infinity
def match(secret: replaced(0, 1, 2), guess):
    return secret == guess
