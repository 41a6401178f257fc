"""Thousands of mangled specs: each is a spec or a SpecError with a clean message, never anything else."""

import copy
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scalestudy.errors import SpecError
from scalestudy.study import override, parse_source, parse_spec, spec_text
from scalestudy.study.yaml12 import dump

VALID = [
    """\
# A comment.
name: d_scaling
seed: 2026
grid: {d: [64, 128, 256], beta: [1.0, 1e-3], gamma: [0.5, 1.0], psi: [1.0]}
trials: {64: 200, 128: 100, 256: 10}
tokens: orthonormal
models: all
polynomial: {c: 2.0, theta: exact}
bulk: {drop: 3}
dtype: float64
store: results/d_scaling.zarr
cluster: {workers: auto}
""",
    """\
seed: 0
grid:
  d:
    - 16
    - 32
  beta: 1
trials: 20
tokens: {file: "X.npy"}
models: [Y, Y_f]
polynomial:
  theta: monte_carlo
  samples: 200000
trials_per_block: 4
solver: gram
cluster:
  class: dask_jobqueue.SLURMCluster
  cores: 4
  memory: '8 GB'
  job_extra_directives: ["--exclusive", {deep: [1, 2]}]
""",
]

# Pieces that mean something to YAML, to Python's numbers, or to a terminal.
PIECES = [
    *[
        "[",
        "]",
        "{",
        "}",
        ":",
        ": ",
        "- ",
        "? ",
        ", ",
        "#",
        "|",
        ">",
        "'",
        '"',
        "\n",
        "\t",
        "  ",
        "---\n",
        "...\n",
    ],
    *[
        "&a ",
        "*a",
        "<<: ",
        "!!python/object/apply:os.system ",
        "!!map ",
        "!!seq ",
        "!!int ",
        "!!float ",
        "!!bool ",
    ],
    *[
        "!!null ",
        "!!str ",
        "!!binary ",
        "!x ",
        "!<y> ",
        "%YAML 1.2\n---\n",
        "%TAG ! z:\n",
        "~",
        "null",
        "true",
        "no",
    ],
    *[
        "0",
        "-1",
        "1e308",
        "1e-320",
        "1e999",
        ".inf",
        "-.inf",
        ".nan",
        "0x" + "f" * 4000,
        "9" * 5000,
        "0o17",
        "1_0",
    ],
    *[
        "\\ud800",
        "\\U00110000",
        "\\e[31m",
        "\\0",
        "\x07",
        "\x85",
        "\u2028",
        "\ufeff",
        "\U0001f600",
        "\ud800",
        "\x00",
    ],
    *[
        "seed",
        "grid",
        "d",
        "beta",
        "gamma",
        "trials",
        "models",
        "tokens",
        "cluster",
        "class",
        "file",
        "orthonrmal",
    ],
    *[
        "=",
        "@",
        "`",
        "%",
        "$" * 300,
        "a" * 3000,
        "{" * 50,
        "[" * 2000,
        "trials: 1\n",
        "grid: 3\n",
        "seed: {}\n",
    ],
]

VALUES = [
    *[
        None,
        True,
        False,
        0,
        -1,
        1,
        3,
        64,
        10**18,
        2**63,
        10**90,
        -0.0,
        0.5,
        1e-320,
        1e308,
        float("inf"),
        float("nan"),
    ],
    *[
        "",
        "all",
        "auto",
        "exact",
        "orthonormal",
        "float64",
        "Y",
        "1",
        "x" * 300,
        "é",
        "a\nb",
        "../x",
        "s3://",
        "~",
    ],
    *[
        [],
        {},
        [[]],
        [{}],
        {"": 1},
        {"file": "X.npy"},
        {"class": "os.system"},
        [1] * 500,
        list(range(1, 200)),
        {5: 5},
    ],
]
KEYS = [
    "seed",
    "grid",
    "d",
    "beta",
    "gamma",
    "psi",
    "trials",
    "tokens",
    "models",
    "bulk",
    "sed",
    "x" * 99,
    "a\nb",
    5,
    -1,
]

MESSAGE_LIMIT = 400


def check(text, name="f.yaml", options=()):
    """Parse a text that may be anything; return whether it is a spec."""
    try:
        spec = parse_spec(override(parse_source(text, name), list(options)))
    except SpecError as error:
        lines = str(error).split("\n")
        for line in lines:
            assert line.isprintable(), line
            assert line.startswith((f"{name}:", "--set ")), line
            assert 10 < len(line) < MESSAGE_LIMIT, line
            assert not any(word in line for word in ("Traceback", "object at 0x", "pydantic", "errors.")), (
                line
            )
        return False
    # Texts and not specs are compared, because an argument of a cluster may be NaN.
    assert spec_text(parse_spec(parse_source(spec_text(spec), "again"))) == spec_text(spec)
    return True


def mangled(rng, text):
    """Insert, delete, double and swap pieces of a text, one to four times."""
    for _ in range(rng.randint(1, 4)):
        at, to = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        to = min(to, at + rng.randint(1, 40))
        piece = rng.choice(PIECES)
        text = rng.choice(
            [
                text[:at] + piece + text[at:],
                text[:at] + piece + text[to:],
                text[:at] + text[to:],
                text[:to] + text[at:],
                text[:at] + chr(rng.randrange(1, 0x3000)) + text[at:],
            ]
        )
    return text


def places(node, path=()):
    """Yield the path of every value of a structure."""
    yield path
    if isinstance(node, dict | list):
        for key in node if isinstance(node, dict) else range(len(node)):
            yield from places(node[key], (*path, key))


def restructured(rng, data):
    """Replace, remove or add values anywhere in a structure, one to three times."""
    data = copy.deepcopy(data)
    for _ in range(rng.randint(1, 3)):
        *parents, last = rng.choice([p for p in places(data) if p] or [("seed",)])
        parent = data
        for step in parents:
            parent = parent[step]
        action = rng.randrange(4)
        if action == 0 and isinstance(parent, dict):
            del parent[last]
        elif action == 1 and isinstance(parent, dict):
            parent[rng.choice(KEYS)] = parent.pop(last)
        elif action == 2 and isinstance(parent, dict):
            parent[rng.choice(KEYS)] = copy.deepcopy(rng.choice(VALUES))
        else:
            parent[last] = copy.deepcopy(rng.choice(VALUES))
    return data


def test_the_texts_to_be_mangled_are_valid():
    assert check(VALID[0])
    assert check(VALID[1].replace("- 32\n", "").replace("    - 16\n    ", "    - 16\n"))


@pytest.mark.parametrize("seed", range(20))
def test_mangled_texts_give_clean_messages(seed):
    rng = random.Random(seed)
    accepted = sum(check(mangled(rng, rng.choice(VALID))) for _ in range(75))
    assert accepted < 75


@pytest.mark.parametrize("seed", range(10))
def test_mangled_structures_give_clean_messages(seed):
    rng = random.Random(1000 + seed)
    data = [parse_source(text).data for text in VALID]
    accepted = sum(check(dump(restructured(rng, rng.choice(data)))) for _ in range(75))
    assert accepted < 75


@pytest.mark.parametrize("seed", range(5))
def test_mangled_options_give_clean_messages(seed):
    rng = random.Random(2000 + seed)
    options = [
        "grid.beta=0.5,1",
        "trials.64=3",
        "tokens={file: X.npy}",
        "cluster.workers=2",
        "models=[Y]",
        "name=x",
    ]
    for _ in range(60):
        check(VALID[0], options=[mangled(rng, rng.choice(options)) for _ in range(rng.randint(1, 2))])


@given(st.text(max_size=80) | st.text(alphabet="{}[]:,-?!&*#|>'\"%@`\\ \n\tadegirst01.e~<=", max_size=60))
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_text_at_all_gives_a_clean_message(text):
    assert not check(text)


def test_nothing_of_python_can_be_built(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    calls = [
        "!!python/object/apply:os.mkdir [made]",
        "!!python/object/new:os.mkdir [made]",
        "!!python/object/apply:subprocess.check_call [[mkdir, made]]",
        "!!python/module:antigravity",
    ]
    for call in calls:
        for text in (
            call,
            f"name: {call}",
            f"? {call}\n: 1",
            f"grid: {{d: [{call}]}}",
            f"cluster: {{class: {call}}}",
        ):
            assert not check(text)
    assert not (tmp_path / "made").exists()
