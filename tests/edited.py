"""Release files as somebody else left them: edited, or written by an earlier version."""

import json

from gdppca.releases.files import checksum


def rewritten(path, change, *, sealed=True):
    """Edit a release file; with `sealed` the checksum is made to match again."""
    plain = json.loads(path.read_text())
    change(plain)
    if sealed:
        plain["checksum"] = checksum(plain)
    path.write_text(json.dumps(plain))
    return path


def as_before(plain, version):
    """The fields of an earlier format, 3 as it was before it had types in place of sentences."""
    plain["version"] = version
    since = {
        2: ("variances", "score_map", "plan"),
        3: ("scale_error",),
        4: ("unit", "neighbors", "rates", "description", "loadings", "max_loadings"),
        5: ("second_stage",),
    }
    added = [name for number, names in since.items() if number > version for name in names]
    for name in ("centre_origin", "centre_bias", "scale_origin", *added):
        del plain[name]
    score_map = plain.get("score_map") or {}
    for guarantee in filter(None, (plain["guarantee"], score_map.get("guarantee"))):
        guarantee["assumptions"] = [each["words"] for each in guarantee["assumptions"]]
        del guarantee["unit"]
