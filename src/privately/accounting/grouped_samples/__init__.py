"""Groups of rows on Poisson samples: the worst pair is a mixture of noises, around as many rows as are in the sample.

`once` is for one sample of normal noise. `noises` cuts noise into pieces, `mixtures` lists the losses of one step,
`normal_law` is for the contour integral,
`seen` sorts what an event is made of, `divided` does so for parts, and `road` asks for every number of rows that may be
removed.
"""

from privately.accounting.grouped_samples.road import METHOD, in_parts, in_samples, on_samples

__all__ = ["METHOD", "in_parts", "in_samples", "on_samples"]
