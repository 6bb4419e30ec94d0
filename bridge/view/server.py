"""Serves the pages of results to a browser on this machine, and to nobody else.

The server listens on 127.0.0.1 alone. Each address has a random token, so that neither other users
of the machine nor pages of other sites can read results. It only answers requests that a browser
sends to this address, and loads nothing from elsewhere.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from bridge.errors import InputError
from bridge.present.names import of_sweep
from bridge.present.page.page import page_text
from bridge.results.result import Result
from bridge.view.estimates import Estimator
from bridge.view.pages import (
    chooser,
    estimate_part,
    files,
    links,
    results_page,
    run_page,
    run_part,
    sweeps,
    titles,
    what_if_page,
)
from bridge.view.simulations import Simulation, Simulations
from frontend.errors import ScenarioError
from frontend.fabrics import ESTIMATORS

ADDRESS = "127.0.0.1"

_LONGEST = 32768
"""Characters of a request at most; one result more has some fifty."""

_MOST_FIELDS = 600

_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; connect-src 'self'; img-src data: blob:; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class NoSuchPageError(Exception):
    """A request names no page, or a result that is not there."""


class ViewServer(ThreadingHTTPServer):
    """The server of the pages of one folder.

    Parameters
    ----------
    folder : Path
        The folder of a result, or one with such folders.
    port : int
        Where it listens; 0: any free port.
    """

    daemon_threads = True

    def __init__(self, folder: Path, port: int = 0) -> None:
        self.folder = folder
        self.token = secrets.token_urlsafe(24)
        self._estimator = Estimator()
        self._simulations = Simulations()
        super().__init__((ADDRESS, port), _Handler)

    def server_close(self) -> None:
        """Stop listening, and end the processes that estimate and simulate."""
        super().server_close()
        self._simulations.close()
        self._estimator.close()

    @property
    def url(self) -> str:
        """What to open."""
        return f"http://{ADDRESS}:{self.server_address[1]}/{self.token}/"

    def knows(self, host: str) -> bool:
        """Return whether a browser means this server, and not a name that leads here."""
        port = self.server_address[1]
        return host in (f"{ADDRESS}:{port}", f"localhost:{port}")

    def page(self, path: str, query: Mapping[str, Sequence[str]]) -> str:
        """Return a page.

        Parameters
        ----------
        path : str
            Its name below the token; empty for the list.
        query : mapping of str to sequence of str
            The fields of a form.

        Raises
        ------
        NoSuchPageError
            There is no such page or result.
        InputError
            A result cannot be shown.
        """
        if path == "":
            return results_page(self.folder)
        known = files(self.folder)
        if path in ("run", "progress"):
            number, run = self._run(query)
            return run_page(number, run) if path == "run" else run_part(number, run, known)
        names = self._names(known, query)
        if path == "page":
            places = [known[name] for name in names]
            loaded = [Result.load(file) for file in places]
            shown = of_sweep(places, loaded) or map(titles(known).__getitem__, names)
            choices = chooser(self.folder, known, names)
            return page_text(dict(zip(shown, loaded, strict=True)), links(names[0]), choices)
        changes = _changes(query)
        if path in ("what-if", "estimate"):
            (fabric,) = islice((*query.get("fabric", ()), ESTIMATORS[0]), 1)
            if fabric not in ESTIMATORS:
                raise NoSuchPageError
            found, problem = None, None
            file = known[names[0]]
            try:
                found = self._estimator.estimates(file, changes, fabric)
            except (InputError, ScenarioError) as error:
                problem = str(error)
            if path == "estimate":
                return estimate_part(file, changes, found, problem)
            return what_if_page(names[0], file, changes, fabric, found, problem)
        raise NoSuchPageError

    def act(self, path: str, form: Mapping[str, Sequence[str]]) -> str:
        """Do what a form asks for, and return the path of the page that shows it.

        Parameters
        ----------
        path : str
            ``simulate`` or ``cancel``.
        form : mapping of str to sequence of str
            The fields.

        Raises
        ------
        NoSuchPageError
            There is no such action, result or simulation.
        """
        if path == "cancel":
            number, run = self._run(form)
            run.cancel()
            return f"run?{urlencode({'run': number})}"
        if path != "simulate":
            raise NoSuchPageError
        known = files(self.folder)
        name = self._names(known, form)[0]
        changes = _changes(form)
        try:
            number = self._simulations.start(name, known[name], changes)
        except (InputError, ScenarioError):  # the page of estimates says what is wrong
            return f"what-if?{urlencode({'result': name, 'set': changes}, doseq=True)}"
        return f"run?{urlencode({'run': number})}"

    def _names(
        self, known: Mapping[str, Path], query: Mapping[str, Sequence[str]]
    ) -> Sequence[str]:
        """Return the results that a request names, one by one or as sweeps."""
        groups = query.get("sweep", ())
        found = sweeps(self.folder, known) if groups else {}
        names = [*query.get("result", ()), *(name for one in groups for name in found.get(one, ()))]
        if not names or any(name not in known for name in names):
            raise NoSuchPageError
        return names

    def _run(self, query: Mapping[str, Sequence[str]]) -> tuple[str, Simulation]:
        (number,) = islice((*query.get("run", ()), ""), 1)
        run = self._simulations.get(number)
        if run is None:
            raise NoSuchPageError
        return number, run


def _changes(query: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the keys with values of a form, one a line."""
    lines = (line.strip() for text in query.get("set", ()) for line in text.splitlines())
    return [line for line in lines if line]


class _Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: ViewServer
    server_version = "cosim"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer with a page, or with an error that says nothing about what is there."""
        path = self._path()
        if path is None:
            return
        try:
            text = self.server.page(path, self._fields(urlsplit(self.path).query))
        except (NoSuchPageError, ValueError):
            self._answer(HTTPStatus.NOT_FOUND, "No such page.")
        except InputError as error:
            self._answer(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
        else:
            self._answer(HTTPStatus.OK, text, _HEADERS)

    def do_POST(self) -> None:
        """Do what a form asks for, and send the browser to the page that shows it."""
        path = self._path()
        if path is None:
            return
        try:
            length = int(self.headers.get("Content-Length", ""))
            if not 0 <= length <= _LONGEST:
                raise NoSuchPageError
            page = self.server.act(path, self._fields(self.rfile.read(length).decode()))
        except (NoSuchPageError, ValueError):
            self._answer(HTTPStatus.NOT_FOUND, "No such page.")
        except InputError as error:
            self._answer(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
        else:
            self._answer(HTTPStatus.SEE_OTHER, "", {**_HEADERS, "Location": page})

    def _path(self) -> str | None:
        """Return what is asked for, below the token; None if the answer has been no."""
        if not self.server.knows(self.headers.get("Host", "")):
            self._answer(HTTPStatus.FORBIDDEN, "This server is for 127.0.0.1 alone.")
            return None
        token, slash, path = urlsplit(self.path).path.removeprefix("/").partition("/")
        is_known = secrets.compare_digest(token.encode(), self.server.token.encode())
        if not is_known or not slash or len(self.path) > _LONGEST:
            self._answer(HTTPStatus.NOT_FOUND, "No such page.")
            return None
        return path

    def _fields(self, text: str) -> dict[str, list[str]]:
        return parse_qs(text, max_num_fields=_MOST_FIELDS)

    def _answer(
        self, status: HTTPStatus, text: str, headers: Mapping[str, str] | None = None
    ) -> None:
        content = text.encode()
        self.send_response(status)
        kept = headers or {**_HEADERS, "Content-Type": "text/plain; charset=utf-8"}
        for name, value in {**kept, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        with suppress(ConnectionError):  # the user has gone to another page
            self.end_headers()
            self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Print nothing: what the user does is no news."""
