"""Tests of kernels/runtime."""
