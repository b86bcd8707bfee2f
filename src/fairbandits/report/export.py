"""Verdicts for other programs: a table, a page, schema.org's ClaimReview, FORRT's chain."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairbandits import __version__
from fairbandits.audit import finding, totals
from fairbandits.audit.ledger import Claim, Ledger
from fairbandits.audit.tables import Row, csv_text, write_text
from fairbandits.report.markup import render, render_text
from fairbandits.settings.schemas import paper_file, read_yaml

#: FORRT's words for what came of a replication.
OUTCOMES = {
    finding.REPRODUCED: "Validated",
    finding.NOT_REPRODUCED: "Contradicted",
    finding.INCONCLUSIVE: "Inconclusive",
    finding.NOT_TESTABLE: "NotTested",
}
PART, IN_PART = "PartiallySupported", "IN-PART"
CONTEXT = {"@context": "https://schema.org"}
#: From the lowest.
LEVELS = ("VeryLowConfidence", "LowConfidence", "Moderate", "HighConfidence", "VeryHighConfidence")
#: Grade of evidence -> the place of its level.
LEVEL_OF = dict(zip(finding.GRADES, (4, 3, 2), strict=True))


def outcome(verdict: str, tags: str) -> str:
    word = OUTCOMES.get(verdict, PART)
    return PART if word == "Validated" and IN_PART in tags.split() else word


def confidence(word: str, grade: str, basis: str) -> str:
    """Return FORRT's level of confidence, by the grade; one lower for reconstructed statements."""
    level = {"Inconclusive": 1, "NotTested": 0}.get(word, LEVEL_OF.get(grade, 2))
    return LEVELS[level - (basis != "printed" and level > 1)]


def _review(line: Row) -> dict[str, Any]:
    rating: dict[str, Any] = {"@type": "Rating", "alternateName": line["verdict"]}
    if value := {"Validated": 5, PART: 3, "Contradicted": 1}.get(line["outcome"]):
        rating |= {"ratingValue": value, "bestRating": 5, "worstRating": 1}
    return {
        "@type": "ClaimReview",
        "claimReviewed": line["statement"],
        "itemReviewed": {"@type": "Claim", "name": line["id"], "isPartOf": line["place"]},
        "author": {"@type": "Organization", "name": "fairbandits"},
        "reviewRating": rating,
    }


def as_review(claim: Claim, head: Row) -> str:
    """Return a claim's ClaimReview as JSON-LD, to stand in its page; "" if it is not the text's."""
    if totals.left_out(claim):
        return ""
    word = outcome(head["verdict"], " ".join(head["tags"] or ()))
    line = vars(claim) | {"verdict": head["verdict"], "outcome": word}
    return json.dumps(CONTEXT | _review(line), ensure_ascii=False).replace("<", "\\u003c")


def write(form: str, said: Row, ledgers: Mapping[str, Ledger], out: Path) -> list[Path]:
    """Write the verdicts on the claims that count, of `fairbandits claims --json`, in a form."""
    claims = [one for one in said["claims"] if not one["left_out"]]
    lines = [_line(claim) for claim in claims]
    match form:
        case "csv":
            files = {"verdicts.csv": csv_text([*lines[:1], *(one.values() for one in lines)])}
        case "html":
            files = {"verdicts.html": render("verdicts.html", lines=lines, scale=said["scale"])}
        case "jsonld":
            files = {"verdicts.jsonld": as_json(CONTEXT | {"@graph": list(map(_review, lines))})}
        case "forrt":
            records = {paper: read_yaml(paper_file(paper, "claims"))["claims"] for paper in ledgers}
            given = {"scale": said["scale"], "version": __version__, "ledgers": ledgers}
            files = {}
            for line, claim in zip(lines, claims, strict=True):
                record = records[line["paper"]][line["id"]]
                chain = render_text("forrt.json", line=line, claim=claim, record=record, **given)
                files[f"forrt/{line['id']}.json"] = as_json(json.loads(chain))
    return put(files, out)


def put(files: Mapping[str, str], out: Path) -> list[Path]:
    """Write texts into a folder, each wholly or not at all; return the files."""
    for name, text in files.items():
        write_text(out / name, text)
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


def as_json(content: Row) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
