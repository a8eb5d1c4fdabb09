# claim: epsilon/2
# public: epsilon=1
# tight: epsilon
# about: halving a noisy answer halves no loss
def rounded_down_after_noise(x: each(1, whole(0, 3)), epsilon):
    return (x + discrete_laplace(1/epsilon)) // 2
