# claim: epsilon
# public: epsilon=1
# tight: 2*epsilon
# about: rounding to even numbers comes before the noise
def rounded_before_noise(x: each(1), epsilon):
    return x // 2 * 2 + discrete_laplace(1/epsilon)
