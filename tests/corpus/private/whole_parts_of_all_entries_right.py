# claim: epsilon
# public: epsilon=1
# sizes: 6
def whole_parts_of_all_entries_right(q: each(1), epsilon):
    out = []
    for v in q:
        out.append((v + laplace(6/epsilon)) // 2)
    return out
