# claim: epsilon
# public: epsilon=1
# tight: epsilon + ln(14659/10000)
# slow: takes seconds
# about: the largest of a random number of answers, each with the whole budget; tight is 1 + 2 ln((4 - 1/e)/3), rounded up
def largest_of_some_answers(q: each(1), epsilon):
    more = geometric(1/2)
    best = q + laplace(1/epsilon)
    while more > 0:
        y = q + laplace(1/epsilon)
        if y > best:
            best = y
        more -= 1
    return best
