# claim: epsilon
# public: epsilon=1
# tight: infinity
# about: as many draws as the input says
def private_number_of_draws(x: anything(whole(0, 4)), epsilon):
    s = 0
    for i in range(x):
        s = s + laplace(1/epsilon)
    return s
