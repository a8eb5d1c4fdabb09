# claim: epsilon/2
# public: epsilon=1
# sizes: 6
# tight: epsilon
# about: every entry gets noise for one of six
def whole_parts_of_all_entries(q: each(1), epsilon):
    out = []
    for v in q:
        out.append((v + laplace(6/epsilon)) // 2)
    return out
