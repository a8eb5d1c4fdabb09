# claim: 1/2
# public: scale=2, top=3
# tight: 1/2
def truncated_geometric(value: each(1, whole(0, 3)), scale, top):
    return min(max(value + discrete_laplace(scale), 0), top)
