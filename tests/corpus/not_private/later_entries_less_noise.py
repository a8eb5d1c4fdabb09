# claim: epsilon
# public: epsilon=1
# tight: 6*epsilon
# about: the k-th entry gets a k-th of the noise
def later_entries_less_noise(q: one(1), epsilon):
    return [q[i] + laplace(1/(epsilon*(i + 1))) for i in range(len(q))]
