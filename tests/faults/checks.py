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


def files(k):
    """What the k-th process is to write: a release and its report, a release, or a report."""
    endings = (("json", "html"), ("json",), ("json",), ("html",))[k % 4]
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
    spends = [entry.events for entry in ledger.history("patients") if entry.kind == "spend"]
    releases, torn = _releases(folder)
    return [
        *torn,
        *_unspent(folder, releases, spends, account.cap.delta),
        *_over_the_cap(account, releases, spends),
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


def _unspent(folder, releases, spends, delta):
    """Every release has one entry of its own; so has the report of a fit, which holds all of it."""
    spent = [round(epsilon_at(events, delta), 6) for events in spends]
    published = {int(path.stem) for end in ("json", "html") for path in folder.glob(f"*.{end}")}
    for k in sorted(k for k in published if f"{k}.json" in files(k)):
        if spent.count(epsilon(k)) != 1:
            yield f"Fit {k} was published with {spent.count(epsilon(k))} entries in the ledger."
        if k in releases and releases[k].guarantee.epsilon > epsilon(k) * (1 + 1e-6):
            yield f"Release {k} spent more than was entered for it."


def _over_the_cap(account, releases, spends):
    """By the ledger's own total, by its entries and by what was published."""
    published = [release.guarantee.events for release in releases.values()]
    totals = {
        "The ledger's total": account.spent,
        "All entries": _together(spends, account.cap.delta),
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
    pairs = [each for each in releases.values() if each.location is None]
    noise = np.array([(each.scatter - exact).ravel() / each.noise_sd for each in pairs])
    for i in range(len(noise) - 1):
        if (np.abs(noise[i + 1 :] - noise[i]).max(axis=1) < 1e-6).any():
            yield "Two releases have the same noise."
