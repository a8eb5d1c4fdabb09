# claim: epsilon
# public: epsilon=1
# about: the noise reaches twice as far down as up
def uneven_sides(x: each(1), epsilon):
    return x + discrete_exponential(1/epsilon) - discrete_exponential(2/epsilon)
