"""THE op table.

Files, in reading order:

table        the row, and the table of rows
code_cache   the code of generated functions, kept beside Python's bytecode
signature    schema lines, parsed, and the functions made from them
conversions  other element types, with torch's numbers
infer        shape, dtype and layout rules shared by rows
arithmetic   pointwise rows of two operands
elementwise  pointwise rows of one operand
reductions   sums, extrema, truth over dimensions
views        other shapes of the same memory
products     matrix products
convolution  convolutions and their gradients
gathers      gather, scatter, index
first_of_many  the first elements of long rows
packed_order    rows in order, numbers and places packed into integers
movement     concatenate, flip, copy, sort
writes       writes through views, as pure functions
creation     tensors from sizes and from random counters
differentiation  gradients of tensors with respect to others, as an op
control      branches and loops whose parts are functions
composites   rows defined by other rows: arithmetic, reductions
shapes       composites that give other shapes
complex_numbers  parts, conjugates and angles of complex numbers
selection    composites that select elements
neural       composites of neural networks
attention    scaled dot product attention
losses       composites that are losses
normalizations  composites that normalize channels
rearrangement   composites that roll, repeat and draw
arithmetic_composites  composites of arithmetic seldom needed: hypot, fmax
special_functions      lgamma, erfinv, xlogy and their kind
probability_functions  the normal distribution's functions, gammas, Bessel's I, zeta
bessel_functions       Bessel's J, Y and K, Airy's Ai
polynomials    Chebyshev's, Hermite's, Laguerre's and Legendre's polynomials
accumulation   running products and extrema, differences
statistics     medians, quantiles, histograms, covariances
index_reductions  products, extrema and means of what indices send to one place
quantiles    quantiles and medians, with nans and without
searching      sorted boundaries, sets, masks, flat indices
linear_algebra  determinants, solutions, factorizations
factorizations  eigenvalues, triangular factors
matrices     composites of vectors and matrices: diagonals, distances
pooling      the largest element of each window, and where it is
fourier      Fourier transforms
whole_numbers   common divisors, multiples, the next number
aten_steps   names of operations that ATen keeps to itself
namespaces   torch.ops: operations by namespace and name
rows         imports all of the above
inplace      copy_, and the in-place forms derived from other rows
indexing     what brackets mean
ordering     copies in another memory format
methods      Tensor methods that are no rows
derived_methods  Tensor methods made of rows
tensor_copies  copy, deepcopy and pickle of tensors
memory_methods  Tensor methods about a tensor's memory
fills        Tensor methods that fill with random numbers
outputs      out= of functions
overloads    functions and methods of several signatures
in_place_views  Tensor methods that give the tensor itself another shape
aliases      other names of rows
segments     sums, means and extrema of segments
view_copies  views that are copied at once
short_ways   from plain tensors straight to numpy: the short way of pointwise rows
bind         hangs everything on Tensor
"""
