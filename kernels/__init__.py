"""A graph of primitives in, running fused kernels out."""
