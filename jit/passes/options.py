"""What the passes are allowed to do.

In: the choices of `minitorch2.compile(options={...})`. Out: one immutable record that every pass
gets.

    >>> PassOptions(disabled=("mul_one",)).allows("mul_one")
    False

The numerics contract, as every pass keeps it:

    "default"  rounding points and casts are eager's; only the order inside a sum may differ
    "eager"    the bits of eager on the CPU: elementwise code, views, random numbers, reductions
               (one order of summation for any number of threads), and products at the same thread
               count; gradients too, because the joint graph adds them in the engine's order; values
               lie in memory in eager's order, as sums go through it (jit/ir/eager_orders.py)
    "fast"     sums may be reordered, operations contracted, casts left out; each change is listed

Three things are outside of "eager":

- A compiled function is one step of the backward. What comes from elsewhere to the gradient of an
  input, or of memory that a result shares with an input or another result, is added to the sum of
  what comes from inside; eager adds one after the other. The gradient of a result is row-major
  inside, however it came.
- Rows made of others (batch_norm, std, cross_entropy, ...) on tensors of 8,192 elements or more are
  one program in eager, whose sums, those of its backward too, may have another order
  (backends/composite_programs.py).
- The gradient of a value that is overwritten is left out. Eager adds 0 times a slope for it, so a
  gradient of zero may have another sign there, and one that is nan because of an infinite slope may
  be a number here.

Source: the levels are those of `-ffp-model` in clang: precise, strict, fast.
"""

from dataclasses import dataclass

NUMERICS = ("default", "eager", "fast")


@dataclass(frozen=True, slots=True)
class PassOptions:
    """`numerics` is a level of the contract above. `disabled` names passes and rules that are left
    out; `run` is False where no pass runs at all. `memory_budget` is the fraction of the bytes of
    activations that may be kept for a backward (see jit/autodiff/saving.py). `chains`: products of
    batches and what is between them will run piece by piece (kernels/schedule/chains.py), so that
    they may be computed again without memory for all of them.
    """

    numerics: str = "default"
    disabled: tuple[str, ...] = ()
    memory_budget: float = 1.0
    run: bool = True
    chains: bool = True

    def allows(self, name: str) -> bool:
        """Whether a pass or rule of this name may run."""
        return name not in self.disabled

    @property
    def fast_math(self) -> bool:
        """Whether rules may change the last bits or the sign of zero, or drop a nan."""
        return self.numerics == "fast"


DEFAULT = PassOptions()
