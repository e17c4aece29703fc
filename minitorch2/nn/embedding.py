"""Embedding and EmbeddingBag: tables of vectors looked up by integer.

In: integers of any shape [*]. Out: [*, embedding_dim].

Source: torch.nn.Embedding.
"""

from typing import Any

from minitorch2.creation import empty
from minitorch2.errors import ArgumentValueError
from minitorch2.nn import functional as F
from minitorch2.nn import init
from minitorch2.nn.module import Module
from minitorch2.nn.parameter import Parameter


class Embedding(Module):
    """A table [num_embeddings, embedding_dim] of normal numbers; row `padding_idx` stays zero."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Any = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise ArgumentValueError(
                    f"Embedding({num_embeddings}, {embedding_dim}, padding_idx={padding_idx})",
                    "Padding_idx must be within num_embeddings",
                    "give the index of a row",
                )
            padding_idx %= num_embeddings
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx, self.max_norm, self.norm_type = padding_idx, max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        if _weight is None:
            made = empty(num_embeddings, embedding_dim, device=device, dtype=dtype)
            self.weight = Parameter(made, requires_grad=not _freeze)
            self.reset_parameters()
        else:
            if tuple(_weight.shape) != (num_embeddings, embedding_dim):
                raise ArgumentValueError(
                    "Embedding(_weight=...)",
                    "Shape of weight does not match num_embeddings and embedding_dim",
                )
            self.weight = Parameter(_weight, requires_grad=not _freeze)

    def reset_parameters(self) -> None:
        """Draw the table anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight.data[self.padding_idx] = 0

    def forward(self, input: Any) -> Any:
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    @classmethod
    def from_pretrained(
        cls, embeddings: Any, freeze: bool = True, padding_idx: int | None = None, **options: Any
    ) -> "Embedding":
        """An embedding over a given table [rows, columns], frozen unless told otherwise."""
        rows, columns = embeddings.shape
        return cls(rows, columns, padding_idx, **options, _weight=embeddings, _freeze=freeze)

    def extra_repr(self) -> str:
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.padding_idx is not None:
            parts.append(f"padding_idx={self.padding_idx}")
        usual = {"max_norm": None, "norm_type": 2, "scale_grad_by_freq": False, "sparse": False}
        for name, value in usual.items():
            if getattr(self, name) != value:
                parts.append(f"{name}={getattr(self, name)}")
        return ", ".join(parts)


class EmbeddingBag(Embedding):
    """The sum, mean or maximum of the rows of each bag of integers."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Any = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__(
            num_embeddings,
            embedding_dim,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            _weight,
            device=device,
            dtype=dtype,
        )
        self.mode, self.include_last_offset = mode, include_last_offset

    def forward(self, input: Any, offsets: Any = None, per_sample_weights: Any = None) -> Any:
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    @classmethod
    def from_pretrained(  # type: ignore[override]
        cls, embeddings: Any, freeze: bool = True, **options: Any
    ) -> "EmbeddingBag":
        """Bags over a given table [rows, columns], frozen unless told otherwise."""
        rows, columns = embeddings.shape
        made = cls(rows, columns, **options, _weight=embeddings)
        made.weight.requires_grad = not freeze
        return made

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        return text + f", mode={self.mode!r}"
