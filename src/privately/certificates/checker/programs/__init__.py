"""Small programs, run in all ways at once: the exact laws of their outputs, for every input that is named."""
