"""Variants of the published experiments, without an edit of committed files."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml

from fairbandits.data.whole import replacing
from fairbandits.policies import POLICIES
from fairbandits.settings.scales import folders_in
from fairbandits.settings.schemas import ConfigError, meant, parse_yaml, read_yaml

#: The configuration file in a variant's folder.
FILE = "variant.yaml"
#: Subfolders of the results in every run, whatever the papers.
TAKEN = ("audit", "cache", "notebooks", "site")


class Changes:
    """Values for ``EXPERIMENT.SETTING`` or ``EXPERIMENT.POLICY.PARAMETER``, or of a suite."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self._values, self._where = values, where
        self._homes: dict[str, dict[str, None]] = {name: {} for name in values}
        self._having: dict[str, list[str]] = {name: [] for name in values}
        self._known: dict[str, set[str]] = {}

    def of(
        self, paper: str, names: Iterable[str], block: dict[str, Any]
    ) -> tuple[dict[str, Any], list[str]]:
        names = list(filter(None, names))
        self._known.setdefault(paper, set()).update(names)
        changed = []
        for name, value in self._values.items():
            experiment, _, setting = name.removeprefix(f"{paper}.").partition(".")
            if experiment not in names:
                if block.get("figures") and name in settings_of(block, written=True):
                    self._having[name].append(f"{names[0]}.{name}")
                continue
            self._homes[name][paper] = None
            path, old = self._place(block, experiment, setting), block
            for key in path:
                old = (old or {}).get(key)
            had = old and old["value"]
            if old is not None and had == value:
                raise ConfigError(f"{self._where}: {name} is {_shown(value)} already")
            listed = path[0] == "laws" or (path[0] == "policies" and "parameters" not in path)
            if listed and not isinstance(value, list):
                way = f"got {_shown(value)}; write [{_shown(value)}]"
                raise ConfigError(f"{self._where}: {name} must be a list, as {_shown(had)}, {way}")
            new = {"value": value, "provenance": "chosen", "source": self._where}
            shared = old is not None and len(path) == 1
            block = _replaced(block, old, new) if shared else _with(block, path, new)
            was = "the policy's own" if old is None else _shown(old["value"])
            changed.append(f"{setting} = {_shown(value)} in place of {was}")
        return block, changed

    def _place(self, block: dict[str, Any], experiment: str, setting: str) -> tuple[str, ...]:
        """Return a setting's path of keys, or raise ConfigError naming the nearest setting."""
        known = settings_of(block, written=True)
        if setting not in known:
            known = settings_of(block)
        if setting not in known:
            near = meant(setting, known).partition("; known")[0]
            has = f"{' It' if near else '; it'} has {', '.join(known)}"
            raise ConfigError(f"{self._where}: {experiment} has no setting {setting!r}{near}{has}")
        return known[setting]

    def check_found(self) -> None:
        """Raise ConfigError unless every change applied to experiments of exactly one paper."""
        for name, papers in self._homes.items():
            first, _, rest = name.partition(".")
            if having := self._having[name]:
                message = f"{name!r} names no experiment; write {' or '.join(having)}"
            elif not papers:
                word, among = first, sorted(set().union(*self._known.values()))
                if first in self._known:
                    word, among = rest.partition(".")[0], sorted(self._known[first])
                message = f"{name!r} is of no experiment{meant(word, among)}"
            elif len(papers) > 1:
                longer = " or ".join(f"{paper}.{name}" for paper in papers)
                message = f"several papers have an experiment {first!r}; write {longer}"
            else:
                continue
            raise ConfigError(f"{self._where}: {message}")


def settings_of(block: Mapping[str, Any], *, written: bool = False) -> dict[str, tuple[str, ...]]:
    """Return the path of each setting; a policy's defaults, which need Numba, if not `written`."""
    paths: dict[str, tuple[str, ...]] = {}
    for key, entry in block.items():
        if key == "published_replicates" or not isinstance(entry, dict):
            continue
        if "value" in entry:
            paths[key] = (key,)
        elif key != "policies":
            inside = (name for name, value in entry.items() if isinstance(value, dict))
            paths |= {f"{key}.{name}": (key, name) for name in inside}
    for label, policy in block["policies"].items():
        path, is_known = ("policies", label), not written and policy["policy"] in POLICIES
        others = [f.name for f in fields(POLICIES[policy["policy"]])] if is_known else []
        parameters = dict.fromkeys([*policy["parameters"], *others])
        paths |= {f"{label}.{name}": (*path, "parameters", name) for name in parameters}
        paths |= {f"{label}.{name}": (*path, "sweep", name) for name in policy.get("sweep", {})}
        paths |= {f"{label}.horizons": (*path, "horizons")} if "horizons" in policy else {}
    return paths


def _with(node: Mapping[str, Any], path: tuple[str, ...], new: Any) -> dict[str, Any]:
    """Return a mapping with a new value at one place only, even where objects are shared."""
    first, *rest = path
    return {**node, first: _with(node[first], tuple(rest), new) if rest else new}


def _replaced(node: Any, old: Any, new: Any) -> Any:
    """Return a tree with a new value wherever a node occurs: policies get the same by aliases."""
    if node is old:
        return new
    if isinstance(node, dict):
        return {key: _replaced(child, old, new) for key, child in node.items()}
    return [_replaced(child, old, new) for child in node] if isinstance(node, list) else node


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def setting_of(change: str, example: str) -> tuple[str, Any]:
    """Return a setting's name and new value from ``NAME=VALUE``; ConfigError for anything else."""
    name, equals, text = change.partition("=")
    if not (name and equals and text.strip()):
        raise ConfigError(f"--set needs a setting and its value, such as {example}, got {change!r}")
    return name, parse_yaml(text, f"--set {name}")


def settings_of_variant(folder: str, changes: Sequence[str] = (), **numbers: int) -> dict[str, Any]:
    """Return a variant's settings, to be laid over others.

    `changes` are texts ``NAME=VALUE``; the other `numbers` are replicates and the seed.
    """
    given: dict[str, Any] = {}
    for change in changes:
        name, value = setting_of(change, "oracle_lfg.banditq.V_exponent=0.6")
        if name in given:
            raise ConfigError(f"--set has {name} twice; give it once")
        given[name] = value
    changed = {"changes": given} if given else {}
    return {"scale": "variant", **changed, **numbers, "pathvars": folders_in(folder)}


def folder_of_variant(out: Path, root: Path, results: str, papers: Iterable[str]) -> str:
    """Return a variant's folder, relative to the project if inside; ConfigError for one in use."""
    out, root = out.resolve(), root.resolve()
    home, inside = root / results, out.is_relative_to(root)
    if inside:
        taken = (*TAKEN, *papers, *(path.stem for path in root.glob("config/*.yaml")))
        if home not in out.parents or out.relative_to(home).parts[0] in taken:
            raise ConfigError(
                f"--out {out} can hold other files; inside the project it must be a folder of its "
                f"own in {home}, such as {home / 'v06'}"
            )
    if out.is_dir() and any(out.iterdir()) and not (out / FILE).is_file():
        raise ConfigError(f"--out {out} has files of something else; name a new folder")
    return str(out.relative_to(root) if inside else out)


def write_variant(settings: Mapping[str, Any], folder: Path) -> Path:
    """Write a variant's configuration into its folder; ConfigError if another variant is there."""
    file = folder / FILE
    if not file.is_file():
        head = "# Made by `fairbandits replicate`; given after config.yaml.\n"
        with replacing(file) as temporary:
            text = head + yaml.safe_dump(dict(settings), sort_keys=False)
            temporary.write_text(text, encoding="utf-8")
    elif read_yaml(file) != settings:
        raise ConfigError(
            f"{folder} has another variant, as {file} says; name a new folder, or remove it"
        )
    return file
