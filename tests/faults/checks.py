"""What must hold in a folder of releases and in their ledger, whatever was killed."""

import re

import numpy as np

from gdppca import GdppcaError, Release, kendall_tau
from gdppca.ledgers import Ledger
from gdppca.privacy.spending import epsilon_at

# What a killed process may leave: hidden, and told apart by its ending.
_LEFT_OVER = re.compile(r"\.(\d+)\.(?:json|html)\.\w{8}\.tmp")


def epsilon(k):
    """What the k-th process may spend: its own number, so that a release knows its entry."""
    return round(0.05 + 0.0005 * k, 6)


WORK = ("reported", "centred", "in parts", "report", "mapped", "merged")


def work(k):
    """What the k-th process does: a fit of four kinds, a report, or a merge of two releases."""
    return WORK[k % len(WORK)]


def spends(k):
    """Whether the k-th process draws anything."""
    return work(k) not in ("report", "merged")


def files(k):
    """What the k-th process is to write: a release and its report, a release, or a report."""
    endings = {"reported": ("json", "html"), "report": ("html",)}.get(work(k), ("json",))
    return {f"{k}.{ending}" for ending in endings}


def wrongs(address, folder, fates, rows):
    """Everything that is wrong, in sentences.

    `fates` tells how each process ended, by its number; `rows` are those of the table.
    """
    ledger = Ledger(address)
    try:
        ledger.verify()
    except GdppcaError as error:
        return [str(error)]
    account = ledger.account("patients")
    lines = [line for line in ledger.register("patients") if line.entry.kind == "spend"]
    drawn = [line.entry.events for line in lines]
    releases, torn = _releases(folder)
    return [
        *torn,
        *_unspent(folder, releases, drawn, account.cap.delta),
        *_uncompleted(ledger.name, releases, {line.number: line for line in lines}),
        *_unlisted(lines, releases, fates),
        *_over_the_cap(account, releases, drawn),
        *_strangers(folder, fates),
        *_liars(folder, fates),
        *_same_noise(releases, rows),
    ]


def _releases(folder):
    """Whole releases by number, and what is torn."""
    whole, torn = {}, []
    for path in folder.glob("*.json"):
        try:
            whole[int(path.stem)] = Release.load(path)
        except GdppcaError as error:
            torn.append(f"{path.name} is torn: {error}")
    for path in folder.glob("*.html"):
        page = path.read_bytes()
        if not page.startswith(b"<!DOCTYPE html>") or not page.rstrip().endswith(b"</html>"):
            torn.append(f"{path.name} is torn.")
    return whole, torn


def _unspent(folder, releases, drawn, delta):
    """Every release has one entry of its own; so has the report of a fit, which holds all of it."""
    spent = [round(epsilon_at(events, delta), 6) for events in drawn]
    published = {int(path.stem) for end in ("json", "html") for path in folder.glob(f"*.{end}")}
    for k in sorted(filter(spends, published)):
        if spent.count(epsilon(k)) != 1:
            yield f"Fit {k} was published with {spent.count(epsilon(k))} entries in the ledger."
        if k in releases and releases[k].guarantee.epsilon > epsilon(k) * (1 + 1e-6):
            yield f"Release {k} spent more than was entered for it."


def _uncompleted(name, releases, lines):
    """Every release names the entries that paid for it, and each of them names a release."""
    for k, release in releases.items():
        own = [each for each in release.entries if each.ledger == name]
        if len(own) != (1 if spends(k) else 2):
            yield f"Release {k} names {len(own)} entries of the ledger."
        for each in own:
            line = lines.get(each.number)
            if line is None or line.entry.hash != each.hash:
                yield f"Release {k} names an entry that is not there."
            elif not line.releases or (spends(k) and release.checksum not in line.releases):
                yield f"Release {k} has no completed entry."


def _unlisted(lines, releases, fates):
    """An entry is completed or listed as reserved; reserved ones are of those who were killed."""
    for line in lines:
        if line.status not in ("reserved", "completed"):
            yield f"Entry {line.number} is neither reserved nor completed."
    reserved = sum(line.status == "reserved" for line in lines)
    done = sum(fate == "done" and spends(k) for k, fate in fates.items())
    if len(lines) - reserved < done:
        yield f"{reserved} entries are reserved, and {done} fits of {len(lines)} are done."


def _over_the_cap(account, releases, drawn):
    """By the ledger's own total, by its entries and by what was published."""
    published = [release.guarantee.events for k, release in releases.items() if spends(k)]
    totals = {
        "The ledger's total": account.spent,
        "All entries": _together(drawn, account.cap.delta),
        "All that was published": _together(published, account.cap.delta),
    }
    for name, total in totals.items():
        if total > account.cap * (1 + 1e-9):
            yield f"{name} is over the cap: {total:.6g} of {account.cap:.6g}."


def _together(several, delta):
    return epsilon_at(tuple(event for events in several for event in events), delta)


def _strangers(folder, fates):
    """Files that nobody asked for; hidden ones may only be those of the killed."""
    asked = {"table.csv"}.union(*map(files, fates))
    for path in folder.iterdir():
        left = _LEFT_OVER.fullmatch(path.name)
        if left and fates[int(left[1])] != "killed":
            yield f"{path.name} was left by a process that was not killed."
        if not left and path.name not in asked:
            yield f"Nobody asked for {path.name}."


def _liars(folder, fates):
    """Who is done has written all, and who was refused nothing."""
    for k, fate in fates.items():
        written = {name for name in files(k) if (folder / name).exists()}
        if fate == "done" and written != files(k):
            yield f"Process {k} is done and did not write all."
        if fate in ("refused", "turned away") and written:
            yield f"Process {k} was {fate} and did write."


def _same_noise(releases, rows):
    """Forked processes must not draw the same noise: a difference of releases would be exact."""
    exact = kendall_tau(rows)
    pairs = [each for k, each in releases.items() if each.location is None and spends(k)]
    noise = np.array([(each.scatter - exact).ravel() / each.noise_sd for each in pairs])
    for i in range(len(noise) - 1):
        if (np.abs(noise[i + 1 :] - noise[i]).max(axis=1) < 1e-6).any():
            yield "Two releases have the same noise."
