"""Several mechanisms on one and the same sample: the losses of all of them as two lists, sampled as one."""

from privately.accounting.shared_samples.once import Asked, once
from privately.accounting.shared_samples.road import METHOD, on_shared_samples, together

__all__ = ["METHOD", "Asked", "on_shared_samples", "once", "together"]
