"""Verdicts for other programs: a table, a page, schema.org's ClaimReview, FORRT's chain."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from fairbandits import __version__
from fairbandits.audit import finding, totals
from fairbandits.audit.ledger import Claim, Ledger
from fairbandits.audit.tables import Row
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


def _review(said: Row, verdict: str, tags: str) -> dict[str, Any]:
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


def as_review(claim: Claim, head: Row) -> str:
    """Return a claim's ClaimReview as JSON-LD, to stand in its page; "" if it is not the text's."""
    if totals.left_out(claim):
        return ""
    said = {name: getattr(claim, name) for name in ("id", "statement", "place")}
    review = {"@context": "https://schema.org"}
    review |= _review(said, head["verdict"], " ".join(head["tags"] or ()))
    return json.dumps(review, ensure_ascii=False).replace("<", "\\u003c")


def write(form: str, said: Row, ledgers: Mapping[str, Ledger], out: Path) -> list[Path]:
    """Write the verdicts on the claims that count, of `fairbandits claims --json`, in a form."""
    claims = [one for one in said["claims"] if not one["left_out"]]
    lines = [_line(claim) for claim in claims]
    match form:
        case "csv":
            table = pd.DataFrame(lines, dtype=object)
            files = {"verdicts.csv": table.to_csv(index=False, lineterminator="\n")}
        case "html":
            page = render("verdicts.html", lines=lines, scale=said["scale"])
            files = {"verdicts.html": page}
        case "jsonld":
            reviews = [
                _review(one, one["verdict"], line["tags"])
                for one, line in zip(claims, lines, strict=True)
            ]
            files = {
                "verdicts.jsonld": as_json({"@context": "https://schema.org", "@graph": reviews})
            }
        case "forrt":
            records = {paper: read_yaml(paper_file(paper, "claims"))["claims"] for paper in ledgers}
            files = {
                f"forrt/{one['id']}.json": as_json(
                    _chain(line, one, said["scale"], ledgers[one["paper"]], records[one["paper"]])
                )
                for one, line in zip(claims, lines, strict=True)
            }
    return put(files, out)


def put(files: Mapping[str, str], out: Path) -> list[Path]:
    """Write texts into a folder, each wholly or not at all; return the files."""
    for name, text in files.items():
        file = out / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return [out / name for name in files]


def _line(claim: Row) -> dict[str, Any]:
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


def _chain(
    line: Row, claim: Row, scale: str, ledger: Ledger, records: Mapping[str, Row]
) -> dict[str, Any]:
    """Draft a claim's chain; what only a person can say stands under ``manual``."""
    changes = records[claim["id"]].get("changes", ())
    return {
        "Quote": {"paper": ledger.title, "place": claim["place"], "manual": ["quotation"]},
        "Claim": {"label": claim["id"], "text": claim["statement"], "kind": claim["kind"]},
        "Replication Study": {
            "type": "Replication",
            "scope": scale,
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


def as_json(content: Row) -> str:
    """Return a file's content."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
