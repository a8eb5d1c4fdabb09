# claim: epsilon
# public: epsilon=1
# sizes: 2
# tight: infinity
def shared_noise(q: each(1), epsilon):
    noise = laplace(2 / epsilon)
    return [q[0] + noise, q[1] + noise]
