"""The documentation as a site: `make docs`. Its pages are the ones that the repository shows."""

from __future__ import annotations

import shutil
from importlib.metadata import version as version_of
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parent.parent

project = "cosim"
version = release = version_of("cosim")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]

# The repository is the source, so that links between pages hold in both places.
root_doc = "README"
include_patterns = ["*.md", "benchmarks/*.md", "docs/*.md", "docs/*.rst"]
exclude_patterns = [".*", "build", "results", "tests"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_heading_anchors = 4

NAVIGATION = {
    "Start": ["docs/README", "docs/tutorial", "docs/docker", "docs/glossary"],
    "Use": [
        "docs/model",
        "docs/scenario",
        "docs/scenario_topology",
        "docs/scenario_network",
        "docs/scenario_workload",
        "docs/scenario_llm",
        "docs/scenario_collectives",
        "docs/scenario_run",
        "docs/result",
        "docs/seeing",
        "docs/llm",
        "docs/nccl",
        "docs/workload_files",
        "docs/scheduling",
        "docs/fidelity",
        "docs/performance",
        "docs/machines",
    ],
    "Your network": ["docs/cluster", "docs/roce"],
    "Networks without switches": ["docs/topologies", "docs/schedules", "docs/direct_connect"],
    "Networks made for a job": ["docs/topoopt", "docs/parallelization"],
    "Published experiments": [
        "docs/measured",
        "docs/measured_collectives",
        "docs/reproduction",
        "docs/reproduction_parameters",
        "docs/reproduction_other_set",
        "docs/reproduction_topoopt",
        "docs/reproduction_tcp_clusters",
        "docs/reproduction_roce",
        "docs/reproduction_schedulers",
        "docs/reproduction_direct_connect",
    ],
    "Python": ["docs/network-api", "docs/scripting", "docs/python"],
    "Develop": [
        "docs/architecture",
        "docs/extending",
        "CONTRIBUTING",
        "SECURITY",
        "benchmarks/README",
        "CHANGELOG",
    ],
}
"""The pages in the order in which a newcomer reads them."""

default_role = "code"  # as docstrings write names
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings have them
napoleon_google_docstring = False

html_theme = "furo"
html_title = "cosim"
html_static_path = ["site"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
pygments_style = "tango"
pygments_dark_style = "monokai"


def add_navigation(app: Sphinx, page: str, source: list[str]) -> None:
    """Append the navigation to the first page, as a repository browser needs none."""
    if page == root_doc:
        for caption, pages in NAVIGATION.items():
            entries = "\n".join(pages)
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{entries}\n```\n"


def unlink_folders(app: Sphinx, tree: nodes.document) -> None:
    """Show a link to a folder of the repository as its text: a site has no folders."""
    for link in list(tree.findall(pending_xref)):
        page = ROOT / app.env.docname
        if (page.parent / link["reftarget"]).is_dir():
            link.replace_self(link.children)


def add_index(app: Sphinx, error: Exception | None) -> None:
    """Make the first page the one that a browser opens."""
    if error is None and app.builder.format == "html":
        shutil.copy(Path(app.outdir) / f"{root_doc}.html", Path(app.outdir) / "index.html")


def setup(app: Sphinx) -> None:
    """Connect the steps above."""
    app.connect("source-read", add_navigation)
    app.connect("doctree-read", unlink_folders)
    app.connect("build-finished", add_index)
