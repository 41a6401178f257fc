"""The page: well-formed, self-contained, safe, and it says what the study says."""

import base64
import re
from html.parser import HTMLParser

import pytest

from scalestudy.errors import StoreError
from scalestudy.reporting import comparison, gallery, points, verdicts
from scalestudy.reporting.figures import sample_of
from scalestudy.reporting.page import Page, Progress, Row, Section, picture_of, put, write_page

VOID = {"meta", "img", "source", "br", "hr", "link", "input"}
HOSTILE = '<script>alert("1")</script> & $\\frac{1}$ "quoted"'


class Reader(HTMLParser):
    """Checks nesting, and collects attributes and text."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.words = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.words))


def read(path):
    reader = Reader()
    reader.feed(path.read_text())
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def pictures(measured, fitted, point, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    plates = [next(gallery.curves(measured, fitted)), gallery.spectra(sample_of(point), 3, "_2")[0]]
    return [picture_of(plate, folder) for plate in plates], folder


def page_of(pictures, **changes):
    standard = {
        "title": "a study",
        "progress": Progress(10, 10, [Row(16, "1 of 1", "10", 10)]),
        "verdicts": [],
        "sections": [Section("Convergence", {}, pictures)],
        "comparison": None,
        "notes": [],
        "provenance": {"package": "scalestudy 1"},
        "spec": "name: a study",
        "drop": 3,
        "fitted": True,
        "bounded": True,
    }
    return Page(**{**standard, **changes})


def test_files_of_a_plate(pictures):
    _, folder = pictures
    names = {"convergence", "top_values_2"}
    assert {path.name for path in folder.iterdir()} == {
        f"{name}{end}" for name in names for end in (".png", ".pdf", "_column.png")
    }
    assert (folder / "convergence.pdf").read_bytes().startswith(b"%PDF")


def test_two_drawings_are_equal(pictures, measured, fitted, tmp_path):
    again = picture_of(next(gallery.curves(measured, fitted)), tmp_path)
    assert again.full == pictures[0][0].full
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (pictures[1] / path.name).read_bytes(), path.name


def test_self_contained(pictures, tmp_path):
    page = read(write_page(page_of(pictures[0]), tmp_path))
    images = [attrs for tag, attrs in page.tags if tag == "img"]
    assert len(images) == 2
    for attrs in images:
        assert len(attrs["alt"]) > 30
        assert base64.b64decode(attrs["src"].removeprefix("data:image/png;base64,")).startswith(b"\x89PNG")
    assert {tag for tag, _ in page.tags}.isdisjoint({"script", "link", "iframe"})
    for _, attrs in page.tags:
        for name in ("src", "href", "srcset"):
            assert attrs.get(name, "#").startswith(("#", "data:"))
    text = (tmp_path / "report.html").read_text()
    assert not re.search(r"https?://|url\(|@import", text)


def test_every_figure_has_its_caption(measured, fitted, point, tmp_path, pictures):
    plates = [*gallery.curves(measured, fitted), *gallery.spectra(sample_of(point), 3, "")]
    drawn = [pictures[0][0].__class__(plate, "data:,", "data:,", 10, 10) for plate in plates]
    text = write_page(page_of(drawn), tmp_path).read_text()
    captions = re.findall(r"<figcaption>(.*?)<span", text, re.DOTALL)
    assert len(captions) == len(plates) == 10
    assert all(len(caption.strip()) > 60 for caption in captions)
    assert len(set(captions)) == len(plates) - 1  # the two maps share theirs


def test_hostile_texts_are_escaped(pictures, tmp_path):
    hostile = page_of(
        pictures[0],
        title=HOSTILE,
        notes=[HOSTILE],
        provenance={HOSTILE: HOSTILE},
        spec=HOSTILE,
        verdicts=[verdicts.Group({"beta": 1.0, "gamma": 1.0, "psi": 1.0}, ((HOSTILE, HOSTILE),))],
    )
    page = read(write_page(hostile, tmp_path))
    assert "script" not in {tag for tag, _ in page.tags}
    assert page.text.count('alert("1")') == 8


@pytest.mark.parametrize(
    ("done", "asked", "said"),
    [
        (10, 10, "Complete: all 10 trials are done"),
        (231, 1800, "Unfinished: 231 of 1,800 trials are done ( 12.8 %)"),
        (7, None, "7 trials are in the store"),
    ],
)
def test_how_much_is_there(pictures, tmp_path, done, asked, said):
    page = read(write_page(page_of(pictures[0], progress=Progress(done, asked, [])), tmp_path))
    assert said.replace(" ( ", " (") in page.text.replace("( ", "(")


def test_verdict_of_every_rung_at_every_point(measured, tmp_path):
    found = verdicts.groups(measured)
    assert [len(group.lines) for group in found] == [7] * 4
    page = read(write_page(page_of([], verdicts=found), tmp_path))
    for group in found:
        for model, text in group.lines:
            assert model in page.text
            assert text in page.text
            assert "from the law at d = 128" in text
    assert "at every point" in page.text
    assert len(page_of([], verdicts=found).overview) == 4


def test_verdict_of_a_single_d(measured, fitted):
    (group,) = verdicts.groups(measured.isel(d=[2]).sel(beta=[1.0], gamma=[1.0]))
    values = 100 * measured.w1_relative.sel(d=128, beta=1, gamma=1, psi=1, model="Y_f_lin")
    line = dict(group.lines)["Y_f_lin"]
    assert line.startswith(f"{float(values.mean()):.1f} ± ")
    assert line.endswith("one d gives no rate.")
    (lone,) = verdicts.groups(measured.isel(d=[2], trial=[0]).sel(beta=[1.0], gamma=[1.0]))
    assert "±" not in lone.lines[0][1]


def test_verdict_of_nothing(measured):
    assert verdicts.groups(measured.where(False).assign(trials_used=0 * measured.trials_used)) == []


def test_what_a_study_is_shown(measured, many):
    assert gallery.planes(measured) == [("d", "beta"), ("d", "gamma")]
    assert gallery.planes(many) == [("d", "beta"), ("psi", "gamma")]
    assert gallery.planes(measured.isel(beta=[0], gamma=[0])) == []
    assert gallery.planes(measured.isel(d=[0])) == []
    ends = [(0.5, 0.5), (1.0, 1.0)]
    assert [(point["beta"], point["gamma"]) for point in gallery.spectral_points(measured)] == ends
    assert gallery.spectral_points(measured)[0]["d"] == 128
    assert len(gallery.spectral_points(many)) == 3


def test_points_beyond_the_law_are_left_out_and_said(beyond):
    shown = points.drawable(beyond)
    assert gallery.planes(shown) == [("d", "gamma")]
    assert [point["beta"] for point in gallery.spectral_points(beyond)] == [1.0, 1.0]
    assert "beta = 25: the limit law ends at beta = 6" in points.not_drawable(beyond)
    assert points.not_drawable(shown) == ""


def test_captions_describe_what_is_there(pictures, tmp_path):
    plain = page_of(pictures[0], fitted=False, bounded=False)
    text = write_page(plain, tmp_path).read_text()
    assert "grey region" not in text
    assert "power laws" not in text
    assert "grey region" in write_page(page_of(pictures[0]), tmp_path).read_text()


def test_spectra_are_shown_where_something_is_done(unfinished):
    assert [point["d"] for point in gallery.spectral_points(unfinished)] == [128, 32]


def published(measured):
    """Distances that say they are of the published point."""
    one = measured.isel(d=[2]).sel(beta=[1.0], gamma=[1.0])
    return one.assign_coords(d=[1000]).assign_attrs(tokens="orthonormal")


def test_published_table_side_by_side(measured, point, tmp_path):
    here = published(measured)
    assert comparison.holds_setting(here)
    assert comparison.holds_setting(here.isel(beta=0, gamma=0))
    found = comparison.compare(here, sample_of(point))
    page = read(write_page(page_of([], comparison=found), tmp_path))
    assert "here there are 3 trials" in page.text
    for text in ("1002.21", "0.0389", f"{here.curve.sel(model='Y_f_lin').item():.4f}", "0.99994"):
        assert text in page.text
    top = float(point.squared_singular_values.sel(model="Y", rank=0).mean())
    assert f"{top:.2f}" in page.text


def test_other_settings_have_no_table(measured):
    here = published(measured)
    assert not comparison.holds_setting(measured)
    assert not comparison.holds_setting(here.assign_attrs(tokens="spherical"))
    assert not comparison.holds_setting(here.assign(trials_used=0 * here.trials_used))


def test_a_directory_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        put(tmp_path / "file" / "figure.png", b"")


def test_files_appear_whole(tmp_path):
    put(tmp_path / "new" / "a.txt", b"one")
    put(tmp_path / "new" / "a.txt", b"two")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["a.txt"]
    assert (tmp_path / "new" / "a.txt").read_bytes() == b"two"
