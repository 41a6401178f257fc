"""WHAT WAS ASKED: the spec, its points and blocks, what they cost, and the order to do them in.

A *spec* is the user's YAML, checked. Its grid d x beta x gamma x psi gives *points*; a point's trials are
cut into *blocks* of B consecutive trials, the unit of work and of storage; a *plan* is the list of blocks
that a store does not hold yet, dearest first. Everything here is pure: nothing is drawn, opened or run.
"""

from scalestudy.study.blocks import Block, Point, blocks_of, points_of, trials_per_block
from scalestudy.study.cost import Calibration, CostModel
from scalestudy.study.plan import Group, Plan, make_plan
from scalestudy.study.source import Source, override, parse_source, read_source
from scalestudy.study.spec import Spec, load_spec, parse_spec, spec_text

__all__ = [
    "Block",
    "Calibration",
    "CostModel",
    "Group",
    "Plan",
    "Point",
    "Source",
    "Spec",
    "blocks_of",
    "load_spec",
    "make_plan",
    "override",
    "parse_source",
    "parse_spec",
    "points_of",
    "read_source",
    "spec_text",
    "trials_per_block",
]
