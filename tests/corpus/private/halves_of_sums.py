# claim: epsilon
# public: epsilon=1
# about: whole part and remainder of an answer with two kinds of noise
def halves_of_sums(x: each(1, whole(0, 2)), epsilon):
    noisy = x + discrete_laplace(1/epsilon)
    more = geometric(1/2)
    total = noisy + more
    return [total // 2, total % 2]
