"""A Python function in, a functional graph of primitives out."""
