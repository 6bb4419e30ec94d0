"""Serves the pages of results to a browser on this machine, and to nobody else.

The server listens on 127.0.0.1 alone. Each address has a random token, so that neither other users
of the machine nor pages of other sites can read results. It only answers requests that a browser
sends to this address, and loads nothing from elsewhere.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from bridge.errors import InputError
from bridge.present.page.page import page_text
from bridge.results.result import Result
from bridge.view.estimates import Estimator
from bridge.view.pages import files, links, results_page, title, what_if_page
from frontend.errors import ScenarioError
from frontend.fabrics import ESTIMATORS

ADDRESS = "127.0.0.1"

_LONGEST = 8192
"""Characters of a request at most; one result more has some fifty."""

_MOST_FIELDS = 200

_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; img-src data: blob:; form-action 'self'; "
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
        super().__init__((ADDRESS, port), _Handler)

    def server_close(self) -> None:
        """Stop listening, and end the processes that estimate."""
        super().server_close()
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
        names = query.get("result", ())
        if not names or any(name not in known for name in names):
            raise NoSuchPageError
        if path == "page":
            shown = {title(name, known[name]): Result.load(known[name]) for name in names}
            return page_text(shown, links(names[0]))
        if path == "what-if":
            return self._what_if(names[0], known[names[0]], query)
        raise NoSuchPageError

    def _what_if(self, name: str, file: Path, query: Mapping[str, Sequence[str]]) -> str:
        lines = [line.strip() for text in query.get("set", ()) for line in text.splitlines()]
        changes = [line for line in lines if line]
        (fabric,) = islice((*query.get("fabric", ()), ESTIMATORS[0]), 1)
        if fabric not in ESTIMATORS:
            raise NoSuchPageError
        found, problem = None, None
        try:
            found = self._estimator.estimates(file, changes, fabric)
        except (InputError, ScenarioError) as error:
            problem = str(error)
        return what_if_page(name, file, changes, fabric, found, problem)


class _Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: ViewServer
    server_version = "cosim"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer with a page, or with an error that says nothing about what is there."""
        if not self.server.knows(self.headers.get("Host", "")):
            self._answer(HTTPStatus.FORBIDDEN, "This server is for 127.0.0.1 alone.")
            return
        address = urlsplit(self.path)
        token, slash, path = address.path.removeprefix("/").partition("/")
        is_known = secrets.compare_digest(token.encode(), self.server.token.encode())
        if not is_known or not slash or len(self.path) > _LONGEST:
            self._answer(HTTPStatus.NOT_FOUND, "No such page.")
            return
        try:
            query = parse_qs(address.query, max_num_fields=_MOST_FIELDS)
            text = self.server.page(path, query)
        except (NoSuchPageError, ValueError):
            self._answer(HTTPStatus.NOT_FOUND, "No such page.")
        except InputError as error:
            self._answer(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
        else:
            self._answer(HTTPStatus.OK, text, _HEADERS)

    def _answer(
        self, status: HTTPStatus, text: str, headers: Mapping[str, str] | None = None
    ) -> None:
        content = text.encode()
        self.send_response(status)
        kept = headers or {**_HEADERS, "Content-Type": "text/plain; charset=utf-8"}
        for name, value in {**kept, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Print nothing: what the user does is no news."""
