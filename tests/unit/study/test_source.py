"""Strict YAML: what is read as what, what is refused, and that every message names file and line."""

import pytest

from scalestudy.errors import SpecError
from scalestudy.study import override, parse_source, read_source
from scalestudy.study.yaml12 import dump


def refusal(text, name="f.yaml"):
    with pytest.raises(SpecError) as caught:
        parse_source(text, name)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e3", 1000.0),
        ("1e-3", 1e-3),
        ("-2.5E+2", -250.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("+3", 3),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("0b11", "0b11"),
        ("no", "no"),
        ("on", "on"),
        ("True", True),
        ("~", None),
        ("", None),
        ("2026-01-01", "2026-01-01"),
        ("<<", "<<"),
        ("'1'", "1"),
        ("!!float 3", 3.0),
        ("!!str 3", "3"),
    ],
)
def test_scalars_are_those_of_yaml_1_2(text, value):
    found = parse_source(f"key: {text}").data["key"]
    assert found == value
    assert type(found) is type(value)


def test_infinity_and_nan_are_floats():
    found = parse_source("a: -.inf\nb: .NaN").data
    assert found["a"] == float("-inf")
    assert found["b"] != found["b"]


def test_a_duplicate_key_is_refused_with_its_line_and_path():
    assert (
        refusal("grid:\n  d: 1\n  d: 2") == "f.yaml:3: grid.d: this key is written twice; keep one of them."
    )


def test_keys_that_are_equal_numbers_are_duplicates():
    assert "written twice" in refusal("trials: {16: 1, 0x10: 2}")


def test_an_alias_is_refused():
    assert refusal("a: &x 1\nb: *x") == "f.yaml:2: not valid YAML: the alias *x is not allowed."


def test_many_aliases_do_not_expand():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30)]
    assert "alias" in refusal("\n".join(lines))


@pytest.mark.parametrize(
    "value",
    [
        "!!python/object/apply:os.system ['true']",
        "!!python/name:os.system",
        "!!python/tuple [1]",
        "!!binary aGVsbG8=",
        "!!timestamp 2026-01-01",
        "!!set {a}",
        "!!omap [a: 1]",
        "!thing 3",
        "!<tag:example.org,2026:thing> 3",
        "!!map x",
        "!!seq x",
        "!!str {a: 1}",
        "!!int [1]",
        "!!map [1]",
    ],
)
@pytest.mark.parametrize("place", ["key: {}", "? {}\n: 1", "- {}"])
def test_a_tag_constructs_nothing(place, value):
    message = refusal(place.format(value))
    assert message.startswith("f.yaml:1: ")
    assert "is not allowed; a spec holds plain values only" in message or "must be a name" in message


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: [1, 2", 1, "not valid YAML"),
        ("a: 1\n\tb: 2", 2, "cannot start any token"),
        ("a: 1\nb: c: d", 2, "mapping values are not allowed"),
        ("a: 1\n--- \nb: 2", 2, "not valid YAML"),
        ("a: 1\nb: \x07", 2, r"'\x07' is not allowed"),
        ('a: 1\nb: "\\U00110000"', 2, "not valid YAML: chr()"),
        ('a: 1\nb: "\\ud800"', 2, r"'\ud800' is not allowed"),
        ('a: 1\n"\\e[31m": 2', 2, r"'\x1b' is not allowed"),
        ("%YAML 1." + "9" * 5000 + "\n---\na: 1", 1, "not valid YAML"),
        ("a: 1\nb: " + "9" * 5000, 2, "too many digits"),
        ("a: 1\nb: 0x" + "f" * 5000, 2, "too many digits"),
        ("a: 1\nb: !!int x", 2, "cannot be read"),
        ("a: 1\nb: !!bool x", 2, "cannot be read"),
        ("a: 1\n? [x]\n: 2", 2, "a key must be a name or a number"),
        ("a: 1\n~: 2", 2, "None is neither a name nor a whole number"),
        ("a: 1\ntrue: 2", 2, "True is neither a name nor a whole number"),
        ("a: 1\n1.5: 2", 2, "1.5 is neither a name nor a whole number"),
        ("- a", 1, "this is a list"),
        ("text", 1, "this is 'text'"),
        ("3", 1, "this is 3"),
        ("~", 1, "this is empty"),
    ],
)
def test_what_is_no_strict_yaml_is_refused_with_its_line(text, line, words):
    message = refusal(text)
    assert message.startswith(f"f.yaml:{line}: ")
    assert words in message
    assert message.isprintable()
    assert len(message) < 300


@pytest.mark.parametrize("text", ["", "# nothing", "\n\n"])
def test_an_empty_file_says_what_is_needed(text):
    assert "the file is empty; a study needs at least" in refusal(text)


@pytest.mark.parametrize("text", ["[" * 30 + "]" * 30, "a: " + "{b: " * 30 + "1" + "}" * 30, "[" * 100_000])
def test_deep_nesting_is_refused(text):
    assert "nested too deeply; a spec has at most 20 levels" in refusal(text)


def test_places_are_lines_and_fall_back_to_the_nearest_parent():
    source = parse_source("a: 1\ngrid:\n  d: [1,\n    2]", "f.yaml")
    assert source.where(("grid", "d", 1)) == "f.yaml:4"
    assert source.where(("grid", "beta")) == "f.yaml:2"
    assert source.where(("seed",)) == "f.yaml:1"


def test_files_that_cannot_be_read(tmp_path):
    latin, large = tmp_path / "latin.yaml", tmp_path / "large.yaml"
    latin.write_bytes(b"name: caf\xe9")
    large.write_text("#" * 1_000_001)
    for path, words in [
        (latin, "not a UTF-8 text file"),
        (large, "at most 1000000 bytes, this is 1000001"),
        (tmp_path, "cannot be read: Is a directory"),
        (tmp_path / "none.yaml", "cannot be read: No such file or directory"),
        (f"{tmp_path}/nul\0.yaml", "cannot be read"),
    ]:
        with pytest.raises(SpecError, match=words):
            read_source(path)


def test_options_go_on_top_of_the_file():
    source = parse_source("seed: 1\ngrid: {beta: [1], d: [16]}\ntrials: {16: 2, 32: 3}", "f.yaml")
    found = override(source, ["grid.beta=0.5,1e-3", "seed=2", "trials.16=7", "bulk.drop=0", "name='1e3'"])
    assert found.data == {
        "seed": 2,
        "grid": {"beta": [0.5, 1e-3], "d": [16]},
        "trials": {16: 7, 32: 3},
        "bulk": {"drop": 0},
        "name": "1e3",
    }
    assert source.data["grid"]["beta"] == [1]
    assert found.where(("grid", "beta", 0)) == "--set grid.beta=0.5,1e-3"
    assert found.where(("grid", "d")) == "f.yaml:2"


def test_what_an_option_replaced_is_the_fault_of_the_option():
    found = override(parse_source("seed: 1\ntrials: 5\ngrid: {d: 16}", "f.yaml"), ["trials.16=3"])
    assert found.data["trials"] == {16: 3}
    assert found.where(("trials",)) == "--set trials.16=3"
    assert found.where(("grid", "d")) == "f.yaml:3"


def test_a_key_of_very_many_digits_is_a_name():
    assert override(parse_source("seed: 1"), ["9" * 5000 + "=1"]).data["9" * 5000] == 1


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("grid.beta", "must look like key.subkey=value"),
        ("=1", "must look like key.subkey=value"),
        ("a..b=1", "must look like key.subkey=value"),
        (".".join("a" * 5000) + "=1", "must look like key.subkey=value"),
        ("9" * 5000, "must look like key.subkey=value"),
        ("a=[1", "not valid YAML"),
        ("a=*x", "alias"),
        ("a=1\nb: 2", "sets one value; this holds 2"),
        ("a=!!python/name:os.system", "plain values only"),
        ("a=\x1b", "not allowed in YAML"),
    ],
)
def test_options_that_cannot_be_are_refused(assignment, words):
    with pytest.raises(SpecError) as caught:
        override(parse_source("seed: 1"), [assignment])
    message = str(caught.value)
    assert message.startswith("--set ")
    assert words in message
    assert message.isprintable()


@pytest.mark.parametrize(
    "value", ["1e3", "0o17", "0x1F", "no", "null", "3", ".5", "1.5e-3", "", "a: b", "~", "é", "a\nb", ".inf"]
)
def test_a_string_that_looks_like_something_else_is_written_quoted(value):
    assert parse_source(dump({"key": value})).data == {"key": value}


@pytest.mark.parametrize("value", [1e-6, 1e22, 0.1, 5.0, 10**30, -3, True, None, float("inf")])
def test_values_are_written_as_what_they_are(value):
    found = parse_source(dump({"key": value})).data["key"]
    assert found == value
    assert type(found) is type(value)


def test_one_object_in_two_places_is_written_twice():
    shared = [1, 2]
    assert parse_source(dump({"a": shared, "b": shared})).data == {"a": [1, 2], "b": [1, 2]}
