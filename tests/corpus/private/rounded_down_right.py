# claim: epsilon
# public: epsilon=1
def rounded_down_right(x: each(1, whole(0, 3)), epsilon):
    return (x + discrete_laplace(1/epsilon)) // 2
