"""How a mistake in a spec is said: file and line, key, value, what is allowed, and the nearest valid name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from scalestudy.errors import SpecError
from scalestudy.study.quoting import plain, show
from scalestudy.study.source import KeyPath, Source


@dataclass(frozen=True)
class Problem:
    """One mistake: the key path it is about, and a sentence."""

    path: KeyPath
    message: str


def raise_all(source: Source, problems: Iterable[Problem]) -> None:
    """Raise one SpecError with every problem, in the order of the file; do nothing without problems."""
    # A key may hold a line break, or more than a line.
    lines = [f"{source.where(p.path)}: {plain('.'.join(map(str, p.path)))}: {p.message}" for p in problems]
    if lines:
        raise SpecError("\n".join(dict.fromkeys(lines)))


def describe(error: ValidationError, data: Any, model: type[BaseModel]) -> list[Problem]:
    """Turn pydantic's errors into one sentence for each key that is wrong."""
    found: dict[KeyPath, Problem] = {}
    for item in error.errors(include_url=False):
        path, value = _locate(item["loc"], data, missing=item["type"] == "missing")
        problem = _phrase(item, path, value, model)
        if path not in found or item["type"] == "one_of":
            found[path] = problem
    # A union reports every branch it tried: the deepest path is the branch that the user meant.
    return [
        p
        for path, p in found.items()
        if not any(len(q) > len(path) and q[: len(path)] == path for q in found)
    ]


def nearest(name: object, names: Iterable[str]) -> str:
    """Return `` Did you mean 'beta'?`` for a near miss, else nothing."""
    match = difflib.get_close_matches(str(name), list(names), n=1, cutoff=0.6)
    return f" Did you mean {match[0]!r}?" if match else ""


def _locate(loc: tuple[int | str, ...], data: Any, *, missing: bool) -> tuple[KeyPath, Any]:
    """Follow pydantic's location through the data, passing over the names of union branches."""
    path: list[int | str] = []
    for step in loc:
        inside = isinstance(data, Mapping) and step in data
        inside = inside or (isinstance(data, list) and isinstance(step, int) and step < len(data))
        if inside:
            path.append(step)
            data = data[step]
    if missing:
        path.append(loc[-1])
    return tuple(path), data


def _phrase(item: Any, path: KeyPath, value: Any, model: type[BaseModel]) -> Problem:
    if item["type"] in ("extra_forbidden", "invalid_key"):
        parent = _model_at(path[:-1], model)
        names = [field.alias or name for name, field in parent.model_fields.items()] if parent else []
        return Problem(path, f"unknown key.{nearest(path[-1], names)} Allowed: {', '.join(names)}.")
    allowed = _allowed(path, model)
    if item["type"] == "missing":
        return Problem(path, f"missing; needed: {allowed}.")
    hint = nearest(value, item.get("ctx", {}).get("choices", []))
    kind = " (a string; write the number without quotes)" if _is_quoted_number(value) else ""
    return Problem(path, f"{show(value)}{kind} is not allowed.{hint} Allowed: {allowed}.")


def _is_quoted_number(value: Any) -> bool:
    try:
        return isinstance(value, str) and float(value) is not None
    except ValueError:
        return False


def _model_at(path: KeyPath, model: type[BaseModel]) -> type[BaseModel] | None:
    for step in path:
        field = next((f for name, f in model.model_fields.items() if step in (name, f.alias)), None)
        inner = [t for t in (field.annotation, *get_args(field.annotation)) if _is_model(t)] if field else []
        if not inner:
            return None
        model = inner[0]
    return model


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _allowed(path: KeyPath, model: type[BaseModel]) -> str:
    text = "a mapping of keys to values"
    for depth in range(len(path)):
        parent = _model_at(path[:depth], model)
        for name, field in parent.model_fields.items() if parent else ():
            if path[depth] in (name, field.alias):
                text = field.description or text
    return text
