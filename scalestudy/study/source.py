"""Reading a YAML text strictly, remembering on which line every key stands.

Strict means: YAML 1.2 scalars (`1e-3` is a number, `no` is a string), no duplicate key, no alias, no tag
that could build an object. Only plain dictionaries, lists, strings, numbers, booleans and null come out.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scalestudy.errors import SpecError
from scalestudy.study.quoting import plain, show
from scalestudy.study.yaml12 import (
    NON_PRINTABLE,
    Loader,
    MappingNode,
    MarkedYAMLError,
    Node,
    ScalarNode,
    SequenceNode,
)

KeyPath = tuple[str | int, ...]

_LARGEST_FILE = 1_000_000
_DEEPEST = 20
_LONGEST_INTEGER = 100
_SCALARS = {"null", "bool", "int", "float", "str"}


@dataclass(frozen=True)
class Source:
    """A parsed YAML text.

    Attributes
    ----------
    data : dict
        The plain values.
    name : str
        Name of the file, for messages.
    text : str
        The text itself, kept with the results.
    places : dict
        From a key path such as ``("grid", "beta", 0)`` to where it was written: a line or an option.
    """

    data: dict[Any, Any]
    name: str = "spec"
    text: str = ""
    places: dict[KeyPath, str] = field(default_factory=dict)

    def where(self, path: KeyPath) -> str:
        """Return where the key path, or its nearest written parent, stands: ``file:line`` or the option."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.places:
                return self.places[path[:length]]
        return self.name


def read_source(path: str | os.PathLike[str]) -> Source:
    """Read a spec file.

    Raises
    ------
    SpecError
        If the file cannot be read, is not UTF-8, or is not strict YAML.
    """
    path = Path(path)
    try:
        if path.is_file() and path.stat().st_size > _LARGEST_FILE:
            raise SpecError(
                f"{path}: a spec has at most {_LARGEST_FILE} bytes, this is {path.stat().st_size}."
            )
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise SpecError(f"{path}: not a UTF-8 text file ({error.reason} at byte {error.start}).") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SpecError(f"{path}: cannot be read: {reason}.") from None
    return parse_source(text, str(path))


def parse_source(text: str, name: str = "spec") -> Source:
    """Parse a YAML text; see `read_source` for what is refused."""
    _refuse_unprintable(text, name)
    loader = Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            raise SpecError(f"{name}: the file is empty; a study needs at least `grid`, `trials` and `seed`.")
        places: dict[KeyPath, str] = {}
        data = _construct(loader, node, (), places, name)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        raise SpecError(f"{name}{line}: not valid YAML: {error.problem or error.context}.") from None
    except ValueError as error:
        # PyYAML lets the errors of chr() and int() through, for an escape or a version out of range.
        raise SpecError(f"{name}:{loader.line + 1}: not valid YAML: {error}.") from None
    except RecursionError:
        raise SpecError(f"{name}: nested too deeply; a spec has at most {_DEEPEST} levels.") from None
    finally:
        loader.dispose()
    if not isinstance(data, dict):
        raise SpecError(f"{name}:1: a spec is a mapping of keys to values, this is {_kind(data)}.")
    return Source(data, name, text, places)


def override(source: Source, assignments: list[str]) -> Source:
    """Apply ``grid.beta=0.5,1`` style assignments on top of a spec; values are YAML, commas make a list.

    Raises
    ------
    SpecError
        If an assignment has no ``=``, an empty key, or a value that is not YAML.
    """
    data, places = _copy(source.data), dict(source.places)
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        label = f"--set {plain(assignment)}"
        names = [_key(name.strip()) for name in key.split(".", _DEEPEST)]
        if not equals or "" in names or len(names) > _DEEPEST:
            raise SpecError(f"{label}: must look like key.subkey=value, for example grid.beta=0.5,1.")
        listed = "," in text and not text.lstrip().startswith(("[", "{", '"', "'"))
        parsed = parse_source(f"value: [{text}]" if listed else f"value: {text}", label)
        if set(parsed.data) != {"value"}:
            raise SpecError(f"{label}: sets one value; this holds {len(parsed.data)}.")
        target, path = data, tuple(names)
        for depth, name in enumerate(names[:-1], start=1):
            if not isinstance(target.get(name), dict):
                target[name] = {}
                places[path[:depth]] = label
            target = target[name]
        target[names[-1]] = parsed.data["value"]
        places = {old: place for old, place in places.items() if old[: len(path)] != path}
        places[path] = label
    return Source(data, source.name, source.text, places)


def _refuse_unprintable(text: str, name: str) -> None:
    bad = NON_PRINTABLE.search(text)
    if bad:
        line = text.count("\n", 0, bad.start()) + 1
        raise SpecError(f"{name}:{line}: the character {bad.group()!r} is not allowed in YAML.")


def _construct(loader: Loader, node: Node, path: KeyPath, places: dict[KeyPath, str], name: str) -> Any:
    line = f"{name}:{node.start_mark.line + 1}"
    if len(path) > _DEEPEST:
        raise SpecError(f"{line}: nested too deeply; a spec has at most {_DEEPEST} levels.")
    places.setdefault(path, line)
    _refuse_tag(node, line)
    if isinstance(node, MappingNode):
        mapping: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key_line = f"{name}:{key_node.start_mark.line + 1}"
            if not isinstance(key_node, ScalarNode):
                raise SpecError(f"{key_line}: a key must be a name or a number.")
            _refuse_tag(key_node, key_line)
            key = _scalar(loader, key_node, key_line)
            if isinstance(key, bool) or not isinstance(key, str | int):
                raise SpecError(f"{key_line}: the key {show(key)} is neither a name nor a whole number.")
            if key in mapping:
                dotted = plain(".".join(map(str, (*path, key))))
                raise SpecError(f"{key_line}: {dotted}: this key is written twice; keep one of them.")
            places[(*path, key)] = key_line
            mapping[key] = _construct(loader, value_node, (*path, key), places, name)
        return mapping
    if isinstance(node, SequenceNode):
        return [_construct(loader, item, (*path, i), places, name) for i, item in enumerate(node.value)]
    return _scalar(loader, node, line)


def _refuse_tag(node: Any, line: str) -> None:
    """Refuse a tag that means an object, and a plain tag on a node that it does not fit."""
    fitting = {"mapping": {"map"}, "sequence": {"seq"}}.get(node.id, _SCALARS)
    if node.tag.removeprefix("tag:yaml.org,2002:") not in fitting:
        raise SpecError(f"{line}: the tag {show(node.tag)} is not allowed; a spec holds plain values only.")


def _scalar(loader: Loader, node: Node, line: str) -> Any:
    try:
        kind = node.tag.rpartition(":")[2]
        if kind == "str":
            # An escape such as "\e" or "\ud800" would reach the terminal, or cannot be printed at all.
            bad = NON_PRINTABLE.search(node.value)
            if bad:
                raise SpecError(f"{line}: the character {bad.group()!r} is not allowed in a spec.")
        if kind == "int":
            if len(node.value) > _LONGEST_INTEGER:
                raise ValueError("too many digits")
            return int(node.value, 0 if node.value[:2] in {"0o", "0x"} else 10)
        if kind == "float":
            return float(node.value.lower().replace(".inf", "inf").replace(".nan", "nan"))
        return loader.construct_object(node)
    except (ValueError, KeyError) as error:
        raise SpecError(f"{line}: {show(node.value)} cannot be read: {error}.") from None


def _key(name: str) -> str | int:
    """Return a key of an option as the same key in a file: a d of `trials` is a whole number."""
    digits = name.isascii() and name.isdigit() and len(name) < _LONGEST_INTEGER
    return int(name) if digits else name


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def _kind(value: Any) -> str:
    if isinstance(value, list):
        return "a list"
    return "empty" if value is None else f"{show(value)}"
