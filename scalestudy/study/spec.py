"""The spec: what a user may ask for, as strictly typed records, and how a file becomes one.

Pydantic checks every field on its own; `scalestudy.study.rules` checks what fields mean together. All
mistakes of a file are reported at once, each with its line, key, value and what is allowed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from scalestudy.ensembles import MODELS, TOKENS
from scalestudy.study.problems import describe, raise_all
from scalestudy.study.rules import broken_rules
from scalestudy.study.source import Source, override, read_source
from scalestudy.study.yaml12 import dump

DTYPES = ("float64", "float32")
SOLVERS = ("auto", "svd", "gram", "two_stage")
THETAS = ("exact", "monte_carlo")


def one_of(names: Sequence[str]) -> AfterValidator:
    """Return a validator that takes exactly these names and reports them when it refuses."""

    def check(value: str) -> str:
        if value not in names:
            raise PydanticCustomError("one_of", "must be one of {choices}", {"choices": list(names)})
        return value

    return AfterValidator(check)


def _axis(number: Callable[[Any], float]) -> tuple[BeforeValidator, AfterValidator]:
    """Let one number stand for an axis of one value; put each value of an axis once, ascending."""

    def listed(value: Any) -> Any:
        return [value] if isinstance(value, int | float) and not isinstance(value, bool) else value

    def ordered(values: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(sorted({number(f"{value:.12g}") if number is float else value for value in values}))

    return BeforeValidator(listed), AfterValidator(ordered)


def _ladder(value: Any) -> Any:
    return list(MODELS) if value == "all" else value


def _in_ladder_order(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in MODELS if name in names)


Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=10_000_000)]
Dimension = Annotated[int, Field(ge=1, le=1_000_000)]
Axis = Annotated[tuple[Positive, ...], *_axis(float), Field(min_length=1, strict=False)]
DimensionAxis = Annotated[tuple[Dimension, ...], *_axis(int), Field(min_length=1, strict=False)]
TokenName = Annotated[str, one_of(TOKENS)]
ModelName = Annotated[str, one_of(MODELS)]


class _Record(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Grid(_Record):
    """The four axes of a study."""

    d: DimensionAxis = Field(description="a list of whole numbers from 1 to 1,000,000")
    beta: Axis = Field(description="a list of numbers above 0")
    gamma: Axis = Field(default=(1.0,), description="a list of numbers above 0")
    psi: Axis = Field(default=(1.0,), description="a list of numbers above 0")


class TokenFile(_Record):
    """A token matrix X (ell x d) from a `.npy` file; its rows are scaled to unit norm."""

    file: str = Field(description="the path of a .npy file", min_length=1)


class Polynomial(_Record):
    """Truncation Q_n of rung M4: degree n_d = ceil(c log d / log log d), and how its theta is found."""

    c: float = Field(
        default=2.0, gt=0, le=20, allow_inf_nan=False, description="a number above 0, at most 20"
    )
    theta: Annotated[str, one_of(THETAS)] = Field(default="exact", description="exact or monte_carlo")
    samples: int = Field(
        default=200_000, ge=100, le=100_000_000, description="a whole number from 100 to 100,000,000"
    )


class Bulk(_Record):
    """How many of the largest squared values are no part of the bulk."""

    drop: int = Field(default=3, ge=0, le=1_000_000, description="a whole number, 0 or more")


class Cluster(_Record):
    """Where to run: local workers, a scheduler's address or file, or a cluster class with its arguments."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    workers: Annotated[str, one_of(("auto",))] | Annotated[int, Field(ge=1, le=100_000)] | dict[str, Any] = (
        Field(default="auto", description="auto, or a whole number from 1 to 100,000")
    )
    scheduler: str | dict[str, Any] | None = Field(
        default=None, description="an address such as tcp://host:8786"
    )
    scheduler_file: str | None = Field(default=None, description="the path of a scheduler file")
    class_: str | None = Field(
        default=None, alias="class", description="a cluster class such as dask_jobqueue.SLURMCluster"
    )

    @property
    def arguments(self) -> dict[str, Any]:
        """Keyword arguments for the cluster class: every key that is not ours, and mappings under ours."""
        ours = {"workers": self.workers, "scheduler": self.scheduler}
        given = {name: value for name, value in ours.items() if isinstance(value, dict)}
        return given | dict(self.model_extra or {})

    @property
    def is_local(self) -> bool:
        """Whether worker processes are started on this machine."""
        return not (self.scheduler or self.scheduler_file or self.class_)


class Spec(_Record):
    """A whole study, checked: the fields are the keys of the YAML file."""

    name: str = Field(default="study", min_length=1, max_length=200, description="a name")
    seed: int = Field(ge=0, lt=2**63, description="a whole number from 0 to 2^63 - 1")
    grid: Grid = Field(description="a mapping with the axes d, beta, gamma and psi")
    trials: Count | Annotated[dict[Dimension, Count], Field(min_length=1)] = Field(
        description="a whole number from 1 to 10,000,000, or a mapping from every d to one"
    )
    tokens: TokenName | TokenFile = Field(
        default="orthonormal", description=f"{', '.join(TOKENS)}, or {{file: X.npy}}"
    )
    models: Annotated[tuple[ModelName, ...], BeforeValidator(_ladder), AfterValidator(_in_ladder_order)] = (
        Field(MODELS, min_length=1, strict=False, description=f"all, or a list from {', '.join(MODELS)}")
    )
    polynomial: Polynomial = Field(default=Polynomial(), description="a mapping with c, theta and samples")
    bulk: Bulk = Field(default=Bulk(), description="a mapping with drop")
    dtype: Annotated[str, one_of(DTYPES)] = Field(default="float64", description=" or ".join(DTYPES))
    solver: Annotated[str, one_of(SOLVERS)] = Field(default="auto", description=", ".join(SOLVERS))
    trials_per_block: Annotated[str, one_of(("auto",))] | Annotated[int, Field(ge=1, le=10_000)] = Field(
        default="auto", description="auto, or a whole number from 1 to 10,000"
    )
    store: str = Field(min_length=1, description="a path, or a URL that zarr can open")
    cluster: Cluster = Field(
        default=Cluster(),
        description="a mapping: workers, scheduler, scheduler_file, or class with its arguments",
    )

    def trials_at(self, d: int) -> int:
        """Return the number of trials asked for at every point of this d."""
        return self.trials if isinstance(self.trials, int) else self.trials[d]


def spec_text(spec: Spec) -> str:
    """Write a spec, with every default and every option of the command line, as a YAML text."""
    data = spec.model_dump(by_alias=True)
    # An argument of a cluster class may be null and mean it; our own keys are then not given.
    arguments = spec.cluster.arguments
    data["cluster"] = {k: v for k, v in data["cluster"].items() if k in arguments or v is not None}
    data["grid"] = {name: list(values) for name, values in data["grid"].items()}
    return dump({**data, "models": list(spec.models)})


def load_spec(path: str | os.PathLike[str], *, set: list[str] | None = None) -> Spec:
    """Read and check a spec file.

    Parameters
    ----------
    path : str or path
        The YAML file.
    set : list of str, optional
        Assignments such as ``"grid.beta=0.5,1"`` that go on top of the file.

    Raises
    ------
    SpecError
        With every mistake of the file in one message.
    """
    return parse_spec(override(read_source(path), set or []))


def parse_spec(source: Source) -> Spec:
    """Check a parsed YAML text; see `load_spec`."""
    data = dict(source.data)
    # A file's name may hold more than a spec's name can: bytes that are no UTF-8, control characters.
    stem = "".join(letter if letter.isprintable() else "_" for letter in Path(source.name).stem)
    data.setdefault("name", stem[:200] or "study")
    data.setdefault("store", f"results/{data['name']}.zarr")
    try:
        spec = Spec.model_validate(data)
    except ValidationError as error:
        raise_all(source, describe(error, source.data, Spec))
    raise_all(source, broken_rules(spec))
    return spec
