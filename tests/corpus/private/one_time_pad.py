# claim: 0
# public: n=4
# tight: 0
def one_time_pad(m: anything(bits(4)), n):
    key = uniform_bits(n)
    return [m[i] ^ key[i] for i in range(n)]
