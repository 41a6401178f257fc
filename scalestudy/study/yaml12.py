"""PyYAML with the scalars of YAML 1.2: `1e3` and `0o17` are numbers, `no` is a string; no aliases."""

from __future__ import annotations

import re
from typing import Any

import yaml
from yaml import MappingNode, MarkedYAMLError, Node, ScalarNode, SequenceNode

# YAML has one home: who needs its nodes or errors takes them from here.
__all__ = [
    "NON_PRINTABLE",
    "Loader",
    "MappingNode",
    "MarkedYAMLError",
    "Node",
    "ScalarNode",
    "SequenceNode",
    "dump",
]

NON_PRINTABLE: re.Pattern[str] = yaml.reader.Reader.NON_PRINTABLE


class Loader(yaml.SafeLoader):
    """PyYAML's safe loader without aliases, with the scalars of the YAML 1.2 core schema."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Refuse aliases: a few of them can expand to more than the memory holds."""
        if self.check_event(yaml.AliasEvent):
            event = self.get_event()  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(
                problem=f"the alias *{event.anchor} is not allowed", problem_mark=event.start_mark
            )
        return super().compose_node(parent, index)


class _Dumper(yaml.SafeDumper):
    """PyYAML's safe dumper, which also quotes the strings that YAML 1.2 would read as numbers."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write everything out: what is read back may have no alias."""
        return True


_SCALARS = [
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    (
        "float",
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
]
Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in _SCALARS:
    for _class in (Loader, _Dumper):
        _class.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})\Z"), _first)


def dump(data: dict[str, Any]) -> str:
    """Write plain values as a YAML text that reads back as the same values."""
    text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, default_flow_style=None)
    return text
