"""Probability distributions: torch.distributions.

Files, in reading order:

tools               parameters of one shape, probabilities and scores, lazy fields
constraints         which values are allowed
distribution        what all distributions have
transforms          invertible functions of numbers
vector_transforms   and of vectors and matrices
joined_transforms   and of parts of a tensor
transformed         distributions made of others
normal              Normal, LogNormal, HalfNormal
continuous          Uniform, Exponential, Laplace, Cauchy
extremes            Gumbel, Weibull, Pareto, Kumaraswamy
gamma               Gamma, Beta, Dirichlet, StudentT and their family
bernoulli           yes or no, and counts of it
categorical         one of several classes
relaxed             classes with gradients
multivariate        normal vectors
matrices            random matrices and angles
mixture             mixtures of one family
registry            transforms that reach a constraint
divergence          Kullback-Leibler divergences
cross_divergence    and those between different families
"""

from minitorch2.distributions import constraints, cross_divergence, transforms
from minitorch2.distributions.bernoulli import (
    Bernoulli,
    Binomial,
    ContinuousBernoulli,
    Geometric,
    NegativeBinomial,
    Poisson,
)
from minitorch2.distributions.categorical import (
    Categorical,
    Multinomial,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
)
from minitorch2.distributions.continuous import Cauchy, Exponential, HalfCauchy, Laplace, Uniform
from minitorch2.distributions.distribution import Distribution, ExponentialFamily
from minitorch2.distributions.divergence import kl_divergence, register_kl
from minitorch2.distributions.extremes import (
    GeneralizedPareto,
    Gumbel,
    Kumaraswamy,
    Pareto,
    Weibull,
)
from minitorch2.distributions.gamma import (
    Beta,
    Chi2,
    Dirichlet,
    FisherSnedecor,
    Gamma,
    InverseGamma,
    StudentT,
)
from minitorch2.distributions.joined_transforms import (
    CatTransform,
    CumulativeDistributionTransform,
    StackTransform,
)
from minitorch2.distributions.matrices import LKJCholesky, VonMises, Wishart
from minitorch2.distributions.mixture import MixtureSameFamily
from minitorch2.distributions.multivariate import (
    LogisticNormal,
    LowRankMultivariateNormal,
    MultivariateNormal,
)
from minitorch2.distributions.normal import HalfNormal, LogNormal, Normal
from minitorch2.distributions.registry import biject_to, transform_to
from minitorch2.distributions.relaxed import (
    ExpRelaxedCategorical,
    LogitRelaxedBernoulli,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
)
from minitorch2.distributions.transformed import Independent, TransformedDistribution
from minitorch2.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    SoftplusTransform,
    TanhTransform,
    Transform,
)
from minitorch2.distributions.vector_transforms import (
    ComposeTransform,
    CorrCholeskyTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    ReshapeTransform,
    SoftmaxTransform,
    StickBreakingTransform,
    identity_transform,
)
