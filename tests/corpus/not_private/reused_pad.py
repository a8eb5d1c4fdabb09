# claim: 5
# tight: infinity
def reused_pad(m: anything(bits(2))):
    key = uniform(2)
    return [m[0] ^ key, m[1] ^ key]
