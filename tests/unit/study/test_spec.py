"""From a parsed text to a checked spec: defaults, messages, and the text that a store keeps."""

import pytest

from scalestudy.ensembles import MODELS
from scalestudy.errors import SpecError
from scalestudy.study import load_spec, override, parse_source, parse_spec, spec_text

BASE = "seed: 1\ngrid:\n  d: [16, 32]\n  beta: [1.0]\ntrials: 4\n"


def spec_of(text, *options):
    return parse_spec(override(parse_source(text, "f.yaml"), list(options)))


def refusal(text, *options):
    with pytest.raises(SpecError) as caught:
        spec_of(text, *options)
    return str(caught.value)


def test_defaults():
    spec = spec_of(BASE)
    assert spec.name == "f"
    assert spec.store == "results/f.zarr"
    assert spec.grid.gamma == spec.grid.psi == (1.0,)
    assert spec.models == MODELS
    assert (spec.tokens, spec.dtype, spec.solver, spec.bulk.drop) == ("orthonormal", "float64", "auto", 3)
    assert spec.trials_at(16) == spec.trials_at(32) == 4


def test_axes_are_sorted_and_deduplicated_after_rounding_to_12_digits():
    spec = spec_of(BASE, f"grid.beta=1,0.5,{1 + 1e-14},0.5", "grid.d=32,16,32", "grid.psi=2")
    assert spec.grid.beta == (0.5, 1.0)
    assert spec.grid.d == (16, 32)
    assert spec.grid.psi == (2.0,)


def test_models_come_in_the_order_of_the_ladder():
    assert spec_of(BASE, "models=Y_f,sqrt_d_A").models == ("sqrt_d_A", "Y_f")


def test_trials_may_differ_at_each_d():
    spec = spec_of(BASE, "trials={16: 9, 32: 2, 64: 1}")
    assert [spec.trials_at(d) for d in spec.grid.d] == [9, 2]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("sed=1", "sed: unknown key. Did you mean 'seed'? Allowed: name, seed, grid,"),
        ("grid.bata=1", "grid.bata: unknown key. Did you mean 'beta'? Allowed: d, beta, gamma, psi."),
        ("polynomial.tetha=exact", "polynomial.tetha: unknown key. Did you mean 'theta'?"),
        ("tokens=orthonrmal", "tokens: 'orthonrmal' is not allowed. Did you mean 'orthonormal'?"),
        ("models=[Y_g]", "models.0: 'Y_g' is not allowed. Did you mean 'Y_f'?"),
        ("dtype=float46", "dtype: 'float46' is not allowed. Did you mean 'float64'?"),
        ("solver=gramm", "solver: 'gramm' is not allowed. Did you mean 'gram'?"),
        ("qqqqq=1", "qqqqq: unknown key. Allowed: name,"),
        ("5=1", "5: unknown key. Allowed: name,"),
        ("cluster.5=1", "cluster.5: unknown key. Allowed: workers, scheduler, scheduler_file, class."),
    ],
)
def test_a_typo_names_the_nearest_valid_name(option, message):
    assert refusal(BASE, option).startswith(f"--set {option}: {message}")


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("trials='4'", "trials: '4' (a string; write the number without quotes) is not allowed."),
        ("seed='1'", "seed: '1' (a string; write the number without quotes) is not allowed."),
        ("grid.beta=['1e-3']", "grid.beta.0: '1e-3' (a string; write the number without quotes)"),
        ("grid.d=['16']", "grid.d.0: '16' (a string"),
        ("trials=4.0", "trials: 4.0 is not allowed. Allowed: a whole number from 1 to 10,000,000"),
        ("trials=true", "trials: True is not allowed."),
        ("trials=0", "trials: 0 is not allowed."),
        ("trials={}", "trials: {} is not allowed."),
        ("trials.16=0", "trials.16: 0 is not allowed."),
        ("seed=-1", "seed: -1 is not allowed."),
        ("seed=9223372036854775808", "seed: 9223372036854775808 is not allowed."),
        ("grid.beta=[]", "grid.beta: [] is not allowed. Allowed: a list of numbers above 0."),
        ("grid.d=[]", "grid.d: [] is not allowed."),
        ("grid.gamma=[]", "grid.gamma: [] is not allowed."),
        ("models=[]", "models: [] is not allowed. Allowed: all, or a list from sqrt_d_A"),
        ("grid.beta=0", "grid.beta: 0 is not allowed."),
        ("grid.beta=-1,1", "grid.beta.0: -1 is not allowed."),
        ("grid.beta=.inf", "grid.beta: inf is not allowed."),
        ("grid.beta=[.nan]", "grid.beta.0: nan is not allowed."),
        ("grid.beta=1e999", "grid.beta: inf is not allowed."),
        ("grid.d=16.5", "grid.d: 16.5 is not allowed."),
        ("grid=", "grid: None is not allowed. Allowed: a mapping with the axes d, beta, gamma and psi."),
        ("tokens={fle: x}", "tokens.file: missing; needed: the path of a .npy file."),
        ("polynomial.c=0", "polynomial.c: 0 is not allowed. Allowed: a number above 0, at most 20."),
        ("polynomial.samples=5", "polynomial.samples: 5 is not allowed."),
        ("bulk.drop=-1", "bulk.drop: -1 is not allowed."),
        ("trials_per_block=0", "trials_per_block: 0 is not allowed."),
        ("cluster.workers=0", "cluster.workers: 0 is not allowed."),
        ("store=", "store: None is not allowed."),
        (f"name={'x' * 201}", "name: 'xxxx"),
    ],
)
def test_a_value_that_is_not_allowed_is_shown_with_what_is(option, words):
    message = refusal(BASE, option)
    assert message.startswith("--set ")
    assert words in message
    assert "llowed: " in message or "needed: " in message


def test_a_missing_key_says_what_is_needed():
    assert refusal("trials: 1\ngrid: {d: [16]}").splitlines() == [
        "f.yaml:1: seed: missing; needed: a whole number from 0 to 2^63 - 1.",
        "f.yaml:2: grid.beta: missing; needed: a list of numbers above 0.",
    ]


def test_several_mistakes_are_reported_together_each_with_its_line():
    text = (
        "sed: 1\nseed: x\ngrid:\n  d: [16, 0]\n  bata: [1.0]\n  beta: ['2']\ntrials: -1\ntokens: orthonrmal\n"
    )
    lines = refusal(text).splitlines()
    assert sorted(line.split(": ")[0] + ": " + line.split(": ")[1] for line in lines) == [
        "f.yaml:1: sed",
        "f.yaml:2: seed",
        "f.yaml:4: grid.d.1",
        "f.yaml:5: grid.bata",
        "f.yaml:6: grid.beta.0",
        "f.yaml:7: trials",
        "f.yaml:8: tokens",
    ]


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["trials={16: 9, 32: 2}", "polynomial.theta=monte_carlo", "polynomial.samples=1000"],
        ["name='1e3'", "store='0o17'", "grid.beta=1e-6,0.1,2.5"],
        ["name='no'", "tokens={file: '1e5'}", "grid.d=16"],
        ["cluster={class: dask_jobqueue.SLURMCluster, memory: '1e9', extra: [no, 1e3], shebang: null}"],
        ["cluster.scheduler='tcp://host:8786'", "bulk.drop=0", "dtype=float32", "models=Y_f,Y"],
    ],
)
def test_the_text_that_a_store_keeps_reads_back_as_the_same_spec(options):
    spec = spec_of(BASE, *options)
    assert parse_spec(parse_source(spec_text(spec), "elsewhere")) == spec


def test_a_name_comes_from_the_file_even_if_that_is_long_or_odd(tmp_path):
    for stem in ["x" * 240, "tab\there", "nör\udce9d"]:
        path = tmp_path / f"{stem}.yaml"
        path.write_text(BASE)
        spec = load_spec(path)
        assert spec.name.isprintable()
        assert parse_spec(parse_source(spec_text(spec))) == spec
