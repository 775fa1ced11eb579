"""What people are told of a release, as plain text."""

import html
import io

from rich.console import Console

from gdppca.cli.summary import summary


def plainly(text):
    """A page or a card without entities and line breaks."""
    return " ".join(html.unescape(text).replace("\N{NO-BREAK SPACE}", " ").split())


def on_a_terminal(release):
    """What the command line prints."""
    console = Console(file=io.StringIO(), width=1000)
    console.print(summary(release))
    return plainly(console.file.getvalue())
