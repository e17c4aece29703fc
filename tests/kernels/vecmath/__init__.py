"""Tests of kernels/vecmath."""
