"""What the passes are allowed to do.

In: the choices of `minitorch2.compile` (`numerics`, `options`). Out: one immutable record that
every pass gets.

    >>> PassOptions(disabled=("mul_one",)).allows("mul_one")
    False
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PassOptions:
    """`fast_math` admits rules that change the last bits or the sign of zero, or drop a nan.

    `disabled` names passes and rules that are left out.
    """

    fast_math: bool = False
    disabled: tuple[str, ...] = ()

    def allows(self, name: str) -> bool:
        """Whether a pass or rule of this name may run."""
        return name not in self.disabled


DEFAULT = PassOptions()
