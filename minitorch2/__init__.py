"""The framework a user imports: tensors, autograd, training."""
