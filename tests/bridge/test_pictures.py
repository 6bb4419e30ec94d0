"""Every picture: nothing is clipped, the axes keep their size, and the labels can be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bridge.errors import InputError
from bridge.present.pictures import chart_picture, graph_picture
from bridge.present.pictures.figure import new_figure, plain, save
from bridge.present.pictures.kinds import draw_layers
from bridge.results.result import Result
from bridge.studies.framework import picture
from bridge.studies.framework.figure import Chart, Panel

pytest.importorskip("matplotlib")


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that are saved, as matplotlib lays them out."""
    figures: list[Any] = []

    def keep(figure: Any, path: object) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        FigureCanvasAgg(figure).draw()
        figures.append(figure)

    for module in (chart_picture, graph_picture, picture):
        monkeypatch.setattr(module, "save", keep)
    return figures


def check_inside(figure: Any) -> None:
    """Check that everything, the legend included, is inside the figure."""
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert box.x0 >= -0.01, box
    assert box.y0 >= -0.01, box
    assert box.x1 <= width + 0.01, box
    assert box.y1 <= height + 0.01, box


def axes_heights(figure: Any) -> list[float]:
    return [axes.get_position().height * figure.get_figheight() for axes in figure.axes]


LONG = [f"system {system} {size} chunks, 64 at a time" for system in "ab" for size in range(6)]


@pytest.mark.parametrize("kind", ["bars", "stacked", "lines"])
@pytest.mark.parametrize("labels", [["a", "b"], LONG, [f"layer_{i}" for i in range(30)]])
@pytest.mark.parametrize("logarithmic", [False, True])
def test_chart(
    drawn: list[Any], tmp_path: Path, kind: Any, labels: list[str], logarithmic: bool
) -> None:
    values = [10.0 ** (i % 5) for i in range(len(labels))]
    series = {f"a series with a long name, number {i}": values for i in range(7)}
    panels = [Panel("value", series, kind, logarithmic, title) for title in ("one", "two")]
    picture.draw(Chart("1", "A title", labels, panels), tmp_path / "a.svg")
    check_inside(drawn[0])
    assert min(axes_heights(drawn[0])) > 1.0


def test_long_labels_are_beside_lying_bars(drawn: list[Any], tmp_path: Path) -> None:
    panel = Panel("share", {"compute": [1.0] * 12, "exposed": [2.0] * 12}, "stacked")
    picture.draw(Chart("16", "A title", LONG, [panel]), tmp_path / "a.svg")
    axes = drawn[0].axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == LONG
    assert axes.get_xlabel() == "share"


def test_logarithmic_axes(drawn: list[Any], tmp_path: Path) -> None:
    """Without zeros a line's axis has no 0; with zeros, 0 and the least value do not overlap."""
    for values in ([20.0, 50.0, 200.0], [0.0, 20.0, 200000.0]):
        panel = Panel("time", {"one": values}, "lines", logarithmic=True)
        picture.draw(Chart("1", "A title", ["a", "b", "c"], [panel]), tmp_path / "a.svg")
    without, with_zero = (figure.axes[0] for figure in drawn)
    assert without.get_yscale() == "log"
    assert with_zero.get_yscale() == "symlog"
    assert with_zero.get_yticks().tolist() == [0, 100, 1000, 10000, 100000]
    assert [plain(value) for value in (0.05, 20, 1e5)] == ["0.05", "20", "100\u202f000"]


def test_many_layers(drawn: list[Any], raw_result: dict[str, Any], tmp_path: Path) -> None:
    layer = raw_result["layers"][0]
    names = [f"{'x' * (i % 30)}_layer_without_a_number" for i in range(30)]
    raw_result["layers"] = [layer | {"name": name} for name in names]
    draw_layers(Result.model_validate(raw_result), tmp_path / "a.svg")
    check_inside(drawn[0])
    assert drawn[0].get_figheight() < 16
    labels = [label.get_text() for label in drawn[0].axes[0].get_yticklabels()]
    assert labels == [*names[:24], "6 other layers"]


def test_two_layers_have_a_legend_beside_the_bars(
    drawn: list[Any], raw_result: dict[str, Any], tmp_path: Path
) -> None:
    raw_result["layers"] = raw_result["layers"][:2]
    draw_layers(Result.model_validate(raw_result), tmp_path / "a.svg")
    figure = drawn[0]
    check_inside(figure)
    (legend,) = figure.legends
    assert not legend.get_window_extent().overlaps(figure.axes[0].get_window_extent())


@pytest.mark.parametrize("greatest", [0.0, 1.0, 3e8])
def test_traffic(drawn: list[Any], tmp_path: Path, greatest: float) -> None:
    """Labels have units, not offsets such as 1e8; a wide range of bytes has a logarithmic scale."""
    matrix = np.zeros((4, 4))
    matrix[0, 1], matrix[1, 2] = greatest, min(greatest, 2e3)
    steps = [(greatest / 2, 0.5), (greatest, 1.0)]
    graph_picture.plot_traffic(matrix, [(1, 0.5), (3, 1.0)], steps, tmp_path / "a.svg")
    figure = drawn[0]
    check_inside(figure)
    links = figure.axes[2]
    assert links.xaxis.get_offset_text().get_text() == ""
    texts = [label.get_text() for label in links.get_xticklabels()]
    assert all(text == "0" or text.endswith("B") for text in texts)


def test_file_without_an_extension(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"pic: expected a picture with the extension \.svg"):
        save(new_figure(1, 1), tmp_path / "pic")
    assert not list(tmp_path.iterdir())
