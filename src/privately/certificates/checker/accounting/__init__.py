"""Events, what has to be added up for them, and bounds on it from a witness."""
