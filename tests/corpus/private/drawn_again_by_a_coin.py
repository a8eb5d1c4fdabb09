# claim: epsilon
# public: epsilon=1
# slow: the loop has no end
# about: how often a coin falls tells nothing of the input
def drawn_again_by_a_coin(x: each(1, whole(0, 3)), epsilon):
    n = 0
    while flip(1/2):
        n += 1
    y = x + discrete_laplace(1/epsilon)
    return [n, y // 2]
