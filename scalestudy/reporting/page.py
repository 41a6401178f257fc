"""One self-contained HTML page: what a study says, its figures, and where its numbers come from."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from matplotlib.figure import Figure

from scalestudy.convergence.schema import REFERENCE
from scalestudy.errors import StoreError
from scalestudy.reporting.comparison import Comparison
from scalestudy.reporting.figures.style import COLUMN, FULL
from scalestudy.reporting.gallery import Plate
from scalestudy.reporting.verdicts import Group

PAGE = "report.html"
_PNG = {"Software": None}
_PDF = {"CreationDate": None}
"""Metadata that would make two reports of one study differ."""


@dataclass(frozen=True)
class Picture:
    """A drawn plate, ready to be embedded: at page width, and at column width for narrow screens."""

    plate: Plate
    full: str
    column: str
    width: int
    height: int


@dataclass(frozen=True)
class Section:
    """Pictures under one heading, with the point that they belong to, if they do."""

    heading: str
    point: Mapping[str, float]
    pictures: Sequence[Picture]


@dataclass(frozen=True)
class Row:
    """How much of one d is done: points, and trials at each of them."""

    d: int
    points: str
    each: str
    trials: int


@dataclass(frozen=True)
class Progress:
    """How much of a study is there; `asked` is None where its spec can no longer be read."""

    done: int
    asked: int | None
    rows: Sequence[Row]


@dataclass(frozen=True)
class Page:
    """Everything that the page shows, in its order.

    `drop` is how many largest values are no part of the bulk, `fitted` whether there are rates, `bounded`
    whether there is a limit law and with it a least distance to it.
    """

    title: str
    progress: Progress
    verdicts: Sequence[Group]
    sections: Sequence[Section]
    comparison: Comparison | None
    notes: Sequence[str]
    provenance: Mapping[str, str]
    spec: str
    drop: int
    fitted: bool
    bounded: bool

    @property
    def overview(self) -> list[tuple[Mapping[str, float], str]]:
        """Every point with the line on its attention bulk."""
        return [
            (group.point, text)
            for group in self.verdicts
            for model, text in group.lines
            if model == REFERENCE
        ]


def picture_of(plate: Plate, directory: Path) -> Picture:
    """Draw a plate, write its files (PNG and PDF, PNG at column width), and return it for the page.

    Parameters
    ----------
    plate : Plate
        What to draw.
    directory : Path
        Where the files go.
    """
    figure = plate.draw(FULL)
    full = _png(figure)
    # The layout stands; finding it again would take as long as drawing.
    figure.set_layout_engine("none")
    pdf = io.BytesIO()
    figure.savefig(pdf, format="pdf", metadata=_PDF)
    column = _png(plate.draw(COLUMN))
    put(directory / f"{plate.name}.png", full)
    put(directory / f"{plate.name}.pdf", pdf.getvalue())
    put(directory / f"{plate.name}_column.png", column)
    width, height = (round(inches * figure.dpi) for inches in figure.get_size_inches())
    return Picture(plate, _data_uri(full), _data_uri(column), width, height)


def write_page(page: Page, directory: Path) -> Path:
    """Render the page and write it.

    Returns
    -------
    Path
        ``report.html`` in the directory.
    """
    environment = Environment(
        loader=PackageLoader("scalestudy.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    text = environment.get_template(PAGE).render(page=page)
    put(directory / PAGE, text.encode())
    return directory / PAGE


def put(path: Path, content: bytes) -> None:
    """Write a file in one step: whoever looks meanwhile sees the old one.

    Raises
    ------
    StoreError
        If it cannot be written.
    """
    partial = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(content)
        partial.replace(path)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}.") from None


def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata=_PNG)
    return buffer.getvalue()


def _data_uri(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"
