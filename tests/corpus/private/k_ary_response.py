# claim: epsilon
# public: epsilon=2
# tight: epsilon
# about: the truth with probability e^2/(3+e^2), by rejection
def k_ary_response(x: replaced(0, 1, 2, 3), epsilon):
    while True:
        answer = uniform(4)
        if answer == x or flip_exp(epsilon):
            return answer
