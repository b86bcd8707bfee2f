"""Verdicts for other programs: a table, a page, schema.org's ClaimReview, FORRT's chain."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from fairbandits import __version__
from fairbandits.audit import finding, totals
from fairbandits.audit.ledger import Claim, Ledger
from fairbandits.data.store import replacing
from fairbandits.report.markup import render
from fairbandits.settings.schemas import paper_file, read_yaml

#: FORRT's words for what came of a replication.
OUTCOMES = {
    finding.REPRODUCED: "Validated",
    finding.NOT_REPRODUCED: "Contradicted",
    finding.INCONCLUSIVE: "Inconclusive",
    finding.NOT_TESTABLE: "NotTested",
}
PART, IN_PART = "PartiallySupported", "IN-PART"
#: FORRT's levels of confidence, from the lowest.
LEVELS = ("VeryLowConfidence", "LowConfidence", "Moderate", "HighConfidence", "VeryHighConfidence")
#: Grade of evidence -> the place of its level.
LEVEL_OF = dict(zip(finding.GRADES, (4, 3, 2), strict=True))
#: ClaimReview's rating of each outcome, from 1 to 5.
RATINGS = {"Validated": 5, PART: 3, "Contradicted": 1}


def outcome(verdict: str, tags: str) -> str:
    """Return FORRT's word for a verdict."""
    word = OUTCOMES.get(verdict, PART)
    return PART if word == "Validated" and IN_PART in tags.split() else word


def confidence(word: str, grade: str, basis: str) -> str:
    """Return FORRT's level of confidence, by the grade; one lower for reconstructed statements."""
    level = {"Inconclusive": 1, "NotTested": 0}.get(word, LEVEL_OF.get(grade, 2))
    return LEVELS[level - (basis != "printed" and level > 1)]


def _review(said: Mapping[str, Any], verdict: str, tags: str) -> dict[str, Any]:
    """Return a claim's ClaimReview; `said` has its id, statement and place."""
    word = outcome(verdict, tags)
    rating: dict[str, Any] = {"@type": "Rating", "alternateName": verdict}
    if word in RATINGS:
        rating |= {"ratingValue": RATINGS[word], "bestRating": 5, "worstRating": 1}
    return {
        "@type": "ClaimReview",
        "claimReviewed": said["statement"],
        "itemReviewed": {"@type": "Claim", "name": said["id"], "isPartOf": said["place"]},
        "author": {"@type": "Organization", "name": "fairbandits"},
        "reviewRating": rating,
    }


def as_review(claim: Claim, head: Mapping[str, Any]) -> str:
    """Return a claim's ClaimReview as JSON-LD, to stand in its page; "" if it is not the text's."""
    if totals.left_out(claim):
        return ""
    said = {name: getattr(claim, name) for name in ("id", "statement", "place")}
    review = {"@context": "https://schema.org"}
    review |= _review(said, head["verdict"], " ".join(head["tags"] or ()))
    return json.dumps(review, ensure_ascii=False).replace("<", "\\u003c")


def write(
    form: str, said: Mapping[str, Any], ledgers: Mapping[str, Ledger], out: Path
) -> list[Path]:
    """Write the verdicts on the claims that count, of `fairbandits claims --json`, in a form."""
    claims = [one for one in said["claims"] if not one["left_out"]]
    files = FORMS[form](claims, said, ledgers)
    for name, text in files.items():
        file = out / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return [out / name for name in files]


def _line(claim: Mapping[str, Any]) -> dict[str, Any]:
    head = claim["headline"]
    tags, grade = " ".join(head["tags"]), head["grade"] or ""
    word = outcome(claim["verdict"], tags)
    return {
        **{name: claim[name] for name in ("id", "paper", "place", "statement", "verdict")},
        "grade": grade,
        "tags": tags,
        "outcome": word,
        "confidence": confidence(word, grade, claim["basis"]),
        **{name: head[name] for name in ("statistic", "low", "high", "n", "p")},
        "data": " ".join(head["data"]),
    }


def _csv(claims: Sequence[Mapping[str, Any]], *_: Any) -> dict[str, str]:
    table = pd.DataFrame(map(_line, claims), dtype=object)
    return {"verdicts.csv": table.to_csv(index=False, lineterminator="\n")}


def _html(claims: Sequence[Mapping[str, Any]], said: Mapping[str, Any], _: Any) -> dict[str, str]:
    lines = [_line(claim) for claim in claims]
    return {"verdicts.html": render("verdicts.html", lines=lines, scale=said["scale"])}


def _jsonld(claims: Sequence[Mapping[str, Any]], *_: Any) -> dict[str, str]:
    reviews = [
        _review(claim, claim["verdict"], " ".join(claim["headline"]["tags"])) for claim in claims
    ]
    return {"verdicts.jsonld": _json({"@context": "https://schema.org", "@graph": reviews})}


def _forrt(
    claims: Sequence[Mapping[str, Any]], said: Mapping[str, Any], ledgers: Mapping[str, Ledger]
) -> dict[str, str]:
    """Draft the chain of each claim; what only a person can say stands under ``manual``."""
    records = {paper: read_yaml(paper_file(paper, "claims"))["claims"] for paper in ledgers}
    files = {}
    for claim in claims:
        line, ledger = _line(claim), ledgers[claim["paper"]]
        changes = records[claim["paper"]][claim["id"]].get("changes", ())
        chain = {
            "Quote": {"paper": ledger.title, "place": claim["place"], "manual": ["quotation"]},
            "Claim": {"label": claim["id"], "text": claim["statement"], "kind": claim["kind"]},
            "Replication Study": {
                "type": "Replication",
                "scope": said["scale"],
                "method": ledger.claims[claim["id"]].estimand or "",
                "deviations": [change["reason"] for change in changes],
                "software": f"fairbandits {__version__}",
                "data": claim["headline"]["data"],
            },
            "Outcome": {
                "status": line["outcome"],
                "confidence": line["confidence"],
                **{name: line[name] for name in ("statistic", "low", "high", "n")},
            },
            "CiTO": {"manual": ["whether the paper is confirmed, disputed or discussed"]},
        }
        files[f"forrt/{claim['id']}.json"] = _json(chain)
    return files


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


FORMS: dict[str, Callable[..., dict[str, str]]] = {
    "csv": _csv,
    "html": _html,
    "jsonld": _jsonld,
    "forrt": _forrt,
}
