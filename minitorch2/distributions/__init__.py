"""Probability distributions: torch.distributions.

Files, in reading order:

distribution   what all distributions have
categorical    one of several classes
normal         the normal distribution
bernoulli      yes or no
"""

from minitorch2.distributions.bernoulli import Bernoulli
from minitorch2.distributions.categorical import Categorical
from minitorch2.distributions.distribution import Distribution
from minitorch2.distributions.normal import Normal

__all__ = ["Bernoulli", "Categorical", "Distribution", "Normal"]
