"""The workbench itself: a folder, a register, and what is under way. Nothing of it is stored."""

from __future__ import annotations

import contextlib
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path

from gdppca._errors import GdppcaError, ParameterError
from gdppca.releases import Release
from gdppca.web.books import Books
from gdppca.web.drafts import Draft
from gdppca.web.folder import Folder
from gdppca.web.guard import Keys, new_token, same
from gdppca.web.running import Job

_ID = 12  # letters
FOLDER, PRACTICE = "folder", "practice"  # where releases are


@dataclass
class Bench:
    """What all pages share."""

    folder: Folder
    books: Books
    keys: Keys = field(default_factory=Keys)
    drafts: dict[str, Draft] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        """Make a private place for practice, which is gone with the workbench."""
        self._scratch = tempfile.TemporaryDirectory(prefix="gdppca-practice-")
        self.practice = Folder(Path(self._scratch.name).resolve())

    @classmethod
    def at(cls, folder: str | Path, ledger: str | None = None) -> Bench:
        """The workbench of a folder; its register is budget.db there, unless another is named."""
        opened = Folder.opened(folder)
        address = f"sqlite:///{opened.root}/budget.db" if ledger is None else _absolute(ledger)
        return cls(opened, Books(address))

    def close(self) -> None:
        """Stop what has not spent anything yet, wait for what has, and clear the private place."""
        jobs = [job for draft in self.drafts.values() for job in (draft.job, draft.counting) if job]
        for job in jobs:
            if not job.over:
                job.cancel()
        for job in jobs:
            job.wait(1.0)
        with contextlib.suppress(OSError):
            self._scratch.cleanup()

    def draft(self, id: str) -> Draft:
        """A draft of this start."""
        try:
            return self.drafts[id]
        except KeyError:
            pass
        raise ParameterError(
            "This page is from before the workbench was started again. Choose the table anew: "
            "what was saved and what was spent is still there."
        )

    def draft_of(self, name: str) -> Draft:
        """The draft of a table that nothing was spent on yet; a new one where there is none."""
        for draft in self.drafts.values():
            if draft.name == name and not draft.practice and not draft.frozen:
                return draft
        return self.add(Draft(id=self.new_id(), name=name, file=self.folder.existing(name)))

    def add(self, draft: Draft) -> Draft:
        """Remember a draft."""
        self.drafts[draft.id] = draft
        return draft

    def new_id(self) -> str:
        """A name for a draft that nobody guesses."""
        return new_token()[:_ID]

    def shelf(self, where: str) -> Folder:
        """A place where releases are."""
        if where not in (FOLDER, PRACTICE):
            raise ParameterError("There is no such place.")
        return self.folder if where == FOLDER else self.practice

    def release(self, where: str, name: str) -> Release:
        """A release that lies in the folder, checked as every one that is read."""
        return Release.load(self.shelf(where).existing(name))

    def releases(self) -> dict[str, Release]:
        """Releases in the folder by their names; other JSON files are passed by."""
        found = {}
        for name in self.folder.releases():
            with contextlib.suppress(GdppcaError, OSError, ValueError):
                found[name] = self.release(FOLDER, name)
        return found

    def free_name(self, draft: Draft) -> Path:
        """A name for a release that no file and no running job has."""
        shelf = self.practice if draft.practice else self.folder
        stem = Path(draft.name).name.split(".")[0] or "table"
        taken = self._outputs()
        for k in range(1, 10_000):
            path = shelf.root / f"{stem[:60]}-release{'' if k == 1 else f'-{k}'}.json"
            if path not in taken and not path.exists():
                return path
        raise ParameterError("There are too many releases of this table in the folder.")

    def _outputs(self) -> set[Path | None]:
        """Files of releases that were made or are under way."""
        return {draft.output for draft in self.drafts.values() if draft.frozen}

    def spend(self, draft: Draft, token: str, ledger: str | None) -> Job | None:
        """Start the fit for a token that was given out once; None where it is used up.

        The token is taken away before anything starts: a second click, a reload or another tab
        comes too late.
        """
        with self.lock:
            if draft.frozen or not draft.token or not same(token, draft.token):
                return None
            wish = draft.wish(ledger)
            if wish != draft.shown:
                raise ParameterError(
                    "Something was changed in another window since this page was shown. Look again."
                )
            if draft.changed:
                raise ParameterError(
                    "The table has changed since it was counted. It is counted anew: look again."
                )
            if draft.output in self._outputs():
                raise ParameterError("Another release is being written to that file. Look again.")
            draft.token = ""
            draft.job = Job("fit", wish).start()
            return draft.job


def _absolute(address: str) -> str:
    """The same address wherever a job runs."""
    path = address.removeprefix("sqlite:///")
    if path == address:
        return address
    file, mark, dataset = path.rpartition("#")
    file = file if mark else path
    return f"sqlite:///{Path(file).absolute()}{mark}{dataset if mark else ''}"
