"""``cosim view``: show results in a browser on this machine."""

from __future__ import annotations

from pathlib import Path

import click

from bridge.errors import InputError


@click.command("view")
@click.argument(
    "folder",
    metavar="[FOLDER]",
    default="results",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="The port on 127.0.0.1; by default a free one.",
)
@click.option("--open", "opens", is_flag=True, help="Open the address in the default browser.")
def view_command(folder: Path, port: int, opens: bool) -> None:
    """Show results in a browser on this machine, and what changes would bring.

    FOLDER is a result, or holds results; by default it is `results`. The command prints an address
    and serves it until Ctrl-C: a list of the results, the page of one or of several, and estimates
    of what other keys would change. It listens on 127.0.0.1 only, and the address has a random
    token, so it is for you alone. `cosim plot -o FILE.html` writes a page that you can send to
    others."""
    from bridge.view.server import ViewServer

    try:
        server = ViewServer(folder, port)
    except OSError as error:
        raise InputError(f"--port {port}: {error.strerror}") from None
    with server:
        click.echo(f"{server.url}")
        click.echo("Ctrl-C ends it.", err=True)
        if opens:
            click.launch(server.url)
        server.serve_forever()
