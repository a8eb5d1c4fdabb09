# claim: epsilon
# public: epsilon=1
# tight: 3/2*epsilon
# about: less noise for the second answer if the first was large
def noise_by_noisy_size(q: one(1), epsilon):
    a = sum(q) + laplace(2/epsilon)
    if a > 10:
        return [a, sum(q) + laplace(1/epsilon)]
    return [a, sum(q) + laplace(2/epsilon)]
