"""What config/*.yaml can say: which papers are run at which scale, in which folders."""

from typing import Annotated, Any, ClassVar

from pydantic import Field, model_validator

from fairbandits.policies.parameters import number, that, whole
from fairbandits.settings import models as m
from fairbandits.settings.costs import MOST
from fairbandits.settings.models import Model
from fairbandits.settings.papers import Checkpoints, ExperimentBlock

#: Value of `seed` for which it follows from what was frozen before the runs.
FROZEN = "frozen"
#: Scales, and which settings they need.
NEEDED = {"preview": "limits", "smoke": "limits", "large": "factors"}


def _is_seed(value: Any) -> bool:
    return value == FROZEN or (type(value) is int and value >= 0)


class Limits(Model):
    """Upper limits; what an experiment has less of stays."""

    needs: ClassVar = {"horizon": ("checkpoints",)}
    horizon: m.Count | None = None
    replicates: m.Count | None = None
    chunk: m.Count | None = None  # replicates of one file
    checkpoints: Checkpoints | None = None


class AllLimits(Limits):
    """Upper limits of a run at another scale."""

    replay: m.Count | None = None  # rounds of a released program with many arms
    evidence: Limits | None = None  # of experiments that no figure shows, in place of these
    #: the most of what a word of the ledgers goes through without runs: argument -> number
    words: dict[m.matching("[a-z_]+"), m.Count] = Field(default={})


Factor = m.of(whole(at_least=1, at_most=1000))


class Factors(Model):
    """What a larger run is multiplied by; the published checkpoints stay beside."""

    horizon: Factor = 1
    replicates: Factor = 1


class Folders(Model):
    """What everything is written to."""

    results: m.Words  # caches, datasets, notebooks and the site
    figures: m.Words
    audit: m.Words | None = None  # the short table of verdicts
    logs: m.Words
    benchmarks: m.Words  # time and memory of the jobs


def folders_in(folder: str) -> dict[str, str]:
    """Return the folders of a run that has one for all that it writes."""
    folders = {name: f"{folder}/{name}" for name in ("figures", "audit", "logs")}
    return folders | {"results": folder, "benchmarks": f"{folder}/logs/benchmarks"}


class Settings(Model):
    """What config/*.yaml say together."""

    #: root seed of every stream: "frozen", which follows from the release's audit/freeze.yaml; or
    #: a number, with which everything that is made says that it is exploratory
    seed: m.of(that(_is_seed, f"be a whole number of at least 0 or {FROZEN!r}"))
    salt: m.Words | None = None  # other words, another seed: for judging all claims again
    #: "paper" is the published one; all others are marked, in folders of their own
    scale: m.choice("paper", *NEEDED, "variant")
    #: each with a file papers/SLUG/experiments.yaml
    papers: Annotated[list[m.Slug], m.Some, m.Unique]
    limits: AllLimits | None = None
    factors: Factors | None = None
    #: settings in place of the published ones, by their names: see `variants.Changes`
    changes: Annotated[dict[str, Any], m.Some] | None = None
    replicates: m.of(whole(at_least=2, at_most=1_000_000)) | None = None
    #: most seconds of computing in one process, where it can be cut; another value is another cut
    job_seconds: m.of(number(at_least=0.001, at_most=1_000_000)) = MOST
    pathvars: Folders

    @model_validator(mode="after")
    def _fits(self):
        scale, given = self.scale, self.model_fields_set
        sizes = [key for key in ("factors", "limits") if key in given]
        changes = [key for key in ("changes", "replicates") if key in given]
        needed = NEEDED.get(scale)
        message = f": scale {scale} needs the {needed} of config/{scale}.yaml"
        m.require(not needed or needed in given, message)
        variant = changes or self.seed != FROZEN
        message = ": scale variant needs changes, replicates or a seed"
        m.require(variant or scale != "variant", message)
        if scale != "variant" and changes:
            raise ValueError(f": {changes[0]} needs scale variant, got {scale}")
        if scale == "paper" and sizes:
            other = next(name for name, key in NEEDED.items() if key == sizes[0])
            raise ValueError(f": {sizes[0]} need another scale than paper, such as {other}")
        m.require(len(sizes) < 2, ": limits and factors exclude each other; give one of them")
        return self

    def limits_of(self, block: ExperimentBlock) -> Limits:
        limits = self.limits or AllLimits()
        if block.figures or block.companion_to or limits.evidence is None:
            return limits
        over = limits.evidence
        return limits.model_copy(update={key: getattr(over, key) for key in over.model_fields_set})
