# claim: epsilon
# public: epsilon=1
# sizes: 3
# about: the first answer above the threshold, and by how much, rounded down
def svt_whole_distance(q: each(1), epsilon):
    bar = laplace(2/epsilon)
    out = []
    done = 0
    for v in q:
        if done == 0:
            z = v + laplace(4/epsilon)
            if z > bar:
                out.append((z - bar) // 1)
                done = 1
            else:
                out.append(-1)
    return out
