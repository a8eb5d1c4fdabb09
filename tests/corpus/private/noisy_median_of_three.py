# claim: epsilon
# public: epsilon=1
# sizes: 3
# about: a median moves no farther than its entries
def noisy_median_of_three(q: each(1), epsilon):
    m = max(min(q[0], q[1]), min(max(q[0], q[1]), q[2]))
    return m + laplace(1/epsilon)
