# claim: 1
# tight: 2
# about: half a step can change the floor by one
def half_steps_rounded(x: each(1/2)):
    return x // 1 + discrete_laplace(1/2)
