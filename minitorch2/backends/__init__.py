"""How rows run.

Files, in reading order:

heap           freed memory stays with the process
blas           matrix products, small ones on one thread
primitives     transcendental functions of arrays, by name
row_kernels    rows that numpy computes in several passes, as kernels
update_kernels updates of several tensors at once, as kernels
composite_programs whole composite rows, as programs
quiet          no floating-point warnings around a numpy call
numpy_backend  the CPU: rows on numpy arrays
meta           shapes, dtypes and layouts without memory
cudnn          what torch.backends.cudnn answers: there is none
cuda           and torch.backends.cuda
mps            and Apple's Metal
mkl            and Intel's MKL
mkldnn         and oneDNN
openmp         and OpenMP
"""
