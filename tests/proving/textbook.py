"""Programs of the literature with unbounded noise, written from their published descriptions."""

SPARSE = """
def sparse(q: each(1), threshold, most, epsilon):
    bar = threshold + laplace({bar})
    out = []
    count = 0
    i = 0
    while {guard}:
        value = q[i] + {noise}
        if value >= bar:
            out.append({yes})
            count = count + 1
        else:
            out.append(0)
        i = i + 1
    return out
"""


def sparse(
    *,
    bar: str = "2/epsilon",
    noise: str = "laplace(4*most/epsilon)",
    guard: str = "count < most and i < len(q)",
    yes: str = "1",
) -> str:
    """The sparse vector technique, or one of its wrong variants."""
    return SPARSE.format(bar=bar, noise=noise, guard=guard, yes=yes)


NOISY_MAX = """
def noisy_max(q: each(1), epsilon):
    best = 0
    top = 0
    for i in range(len(q)):
        value = q[i] + laplace(2/epsilon)
        if i == 0 or value > top:
            top = value
            best = i
    return best
"""

PARTIAL_SUM = """
def partial_sum(q: one(1), epsilon):
    total = 0
    for x in q:
        total = total + x
    return total + laplace(1/epsilon)
"""

PREFIX_SUM = """
def prefix_sum(q: one(1), epsilon):
    total = 0
    out = []
    for x in q:
        total = total + x + laplace(1/epsilon)
        out.append(total)
    return out
"""

RUNNING_SUM = """
def running_sum(q: one(1), epsilon):
    total = 0
    out = []
    for x in q:
        total = total + x
        out.append(total + laplace(1/epsilon))
    return out
"""

SMART_SUM = """
def smart_sum(q: one(1), block, epsilon):
    shown = 0
    inside = 0
    i = 0
    out = []
    while i < len(q):
        if (i + 1) % block == 0:
            shown = inside + q[i] + laplace(1/epsilon)
            inside = 0
        else:
            shown = shown + q[i] + laplace(1/epsilon)
            inside = inside + q[i]
        out.append(shown)
        i = i + 1
    return out
"""

HISTOGRAM = """
def histogram(q: one(1), epsilon):
    return [x + laplace(1/epsilon) for x in q]
"""

MEAN = """
def mean(d: replaced(between(0, 1)), epsilon):
    return sum(d) / len(d) + laplace(1/(len(d)*epsilon))
"""

ADAPTIVE = """
def adaptive(q: each(1), threshold, epsilon):
    bar = threshold + laplace(2/epsilon)
    out = []
    i = 0
    while i < len(q):
        far = q[i] + laplace(8/epsilon)
        if far - bar >= 2:
            out.append(far - bar)
        else:
            near = q[i] + laplace(4/epsilon)
            if near - bar >= 0:
                out.append(near - bar)
            else:
                out.append(0)
        i = i + 1
    return out
"""

COUNT = """
def count(x: each(1), epsilon):
    return x + discrete_laplace(1/epsilon)
"""

CLAMPED = """
def clamped(x: anything(whole(0, 5)), epsilon):
    return min(5, max(0, x + discrete_laplace(1/epsilon)))
"""
