"""What a claim has, what a file of claims defines, and what is refused of either."""

import sys
from types import SimpleNamespace

import pytest

import real
from fairbandits.audit import measures
from fairbandits.audit.claims import Paper, check_references, load, load_papers
from fairbandits.audit.code import asking_code
from fairbandits.settings.schemas import ROOT, ConfigError
from small_claims import paper_of

SOURCE = '''from fairbandits.claims import Paper, mean, measure

paper = Paper("banditq", "A test: of it", {"one": "The first. A word.", "two": "With two."})


@paper.claim("bound", "Theorem  1", readings=["one"])
def t_first(runs):
    """It
    holds.

    Or nearly.
    """
    yield mean("number", [1.0, 2.0], at_least=0)


paper.bound("t-second", "here", "So does this.", judged_by=["t-first"])
'''


def written(folder, text=SOURCE, name="claims.py"):
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_a_file_becomes_claims(tmp_path):
    paper = load(written(tmp_path))
    first, second = paper.claims.values()
    assert (first.id, first.statement, first.note) == ("t-first", "It holds.", "Or nearly.")
    assert (first.place, first.line, first.readings) == ("Theorem 1", 6, ("one",))
    assert (second.line, second.bases) == (16, ("t-first",))
    assert first.source.startswith('@paper.claim("bound"')
    assert paper.short_title == "A test"
    short = [paper.reading(name) for name in ("one", "two", "other")]
    assert short == ["The first", "With two", "other"]


CHANGES = [
    ('"bound", "Th', '"bounds", "Th', r"line 6: t-first: kind must be one of .*, got 'bounds'"),
    ('readings=["one"]', 'reading=["one"]', "no 'reading'; did you mean 'readings'"),
    ('readings=["one"]', 'readings=["on"]', "banditq has no reading 'on', but one, two"),
    ('readings=["one"]', 'conditional=["one"]', "'one', which is none of its readings"),
    ('readings=["one"]', 'about="me"', "about must be one of text, .*, got 'me'"),
    ('readings=["one"]', 'basis="heard"', "basis must be one of printed"),
    ('readings=["one"]', 'basis="lost"', "says what is reconstructed"),
    ('readings=["one"]', 'reconstructed="It."', "says what is reconstructed"),
    ('readings=["one"]', 'combine="most"', "combine must be one of all, any"),
    ('readings=["one"]', 'between=["a", "b"]', "an inconsistency, and nothing else"),
    ('readings=["one"]', 'untestable="No."', "got of and untestable"),
    ('"t-second"', '"t-first"', "line 16: t-first: .* two claims of this id, the other in line 6"),
    ('"bound", "Th', '"inconsistency", "Th', "an inconsistency, and nothing else"),
    ('"here", "So', '"So', "line 16: TypeError: bound: a place above .*; got 2 texts"),
    (', judged_by=["t-first"]', "", "exactly one of a function, .* is needed, got none"),
    ('"""It\n    holds.\n\n    Or nearly.\n    """', "", "needs a docstring"),
    ("[1.0, 2.0]", "[1.0, 2.0", "line 13: SyntaxError: closing .* does not match [^,]*$"),
    ('paper.bound("t-s', 'papr.bound("t-s', r"claims\.py, line 16: NameError: name 'papr'"),
    ("import Paper, mean, me", "import Paper, maen, me", "line 1: ImportError: .*maen"),
    ('paper = Paper("', 'made = paper = Paper("', None),  # two names of one
    ("from fairb", "\ufefffrom fairb", None),  # the mark of an encoding
    ("paper.bound", "other = Paper('x', '')\npaper.bound", "must define one .* defines 2"),
    ("paper.bound", "import sys\nsys.exit(3)\npaper.bound", "line 17: SystemExit: 3"),
]


@pytest.mark.parametrize(("old", "new", "message"), CHANGES)
def test_what_is_wrong_of_a_file_is_named_with_its_line(old, new, message, tmp_path):
    assert old in SOURCE
    file = written(tmp_path, SOURCE.replace(old, new, 1))
    if message is None:
        assert len(load(file).claims) == 2
        return
    with pytest.raises(ConfigError, match=message) as caught:
        load(file)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(file))


@pytest.mark.parametrize("text", ["", "from fairbandits.claims import Paper"])
def test_a_file_without_a_paper(text, tmp_path):
    with pytest.raises(ConfigError, match="must define one Paper, and defines 0"):
        load(written(tmp_path, text))
    with pytest.raises(ConfigError, match=r"none\.py does not exist"):
        load(tmp_path / "none.py")


MEASURE = '@measure("")\ndef {name}(cell):\n    return {value}\n\n\n'


def test_files_of_one_name_beside_two_papers_do_not_mix(tmp_path):
    loaded, path = {}, [*sys.path]
    for slug in ("one", "other"):
        (tmp_path / slug).mkdir()
        written(tmp_path / slug, f"NAME = {slug!r}", "words.py")
        measure = MEASURE.format(name="of_it", value=f"{slug!r}")
        text = SOURCE.replace('"""It', f'"""{slug}\n\n    It').replace('"A test', 'words.NAME + "')
        text = text.replace("paper = ", "import words\n\npaper = ")
        text = text.replace("\n\n@paper", measure + "\n@paper")
        paper = load(written(tmp_path / slug, text))
        loaded[slug] = paper.title.partition(":")[0], measures.measures(slug)["of_it"].of(None)
    assert loaded == {"one": ("one", "one"), "other": ("other", "other")}
    assert (sys.path, "words" in sys.modules) == (path, False)
    assert "of_it" not in measures.measures("banditq")


@pytest.mark.parametrize("name", ["regret", "twice"])
def test_a_measure_has_one_meaning(name, tmp_path):
    text = SOURCE + MEASURE.format(name=name, value=1) * 2
    with pytest.raises(ConfigError, match=rf"line \d+: .*there are two measures '{name}'"):
        load(written(tmp_path, text))


def claim(runs):
    yield


def resting(on):
    return claim, {"rests_on": [on]}


SAME = {"alias_of": "t-a"}


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ({"t_a": {"alias_of": "t-b"}}, "t-a: alias_of: no claim 't-b'"),
        ({"t_a": {"judged_by": ["t-b"]}}, "t-a: judged_by: no claim 't-b'"),
        ({"t_a": resting("t-aa")}, "no claim 't-aa'; did you mean 't-a'"),
        ({"t_a": (claim, {"figure": "fig99"})}, "t-a: no figure 'fig99'"),
        ({"t_a": {"untestable": "No."}, "t_b": {"judged_by": ["t-a"]}}, "'t-a' has no tests"),
        ({"t_a": claim, "t_b": SAME, "t_c": {"alias_of": "t-b"}}, "'t-b' is an alias itself"),
        ({"t_a": resting("t-b"), "t_b": resting("t-a")}, "circle: 't-[ab]' rests on 't-[ab]'"),
    ],
)
def test_claims_name_others_and_figures_that_are_there(claims, message):
    with pytest.raises(ConfigError, match=message):
        check_references({"banditq": paper_of(**claims)}, real.config())


def test_an_inconsistency_rests_on_no_judge():
    said = {"judged_by": ["t-b"], "between": ["a", "b"]}
    paper = Paper("banditq", "")
    paper.inconsistency("t-a", "here", "They differ.", **said)
    paper._add(("", 1), "t-b", "It holds.", "bound", "here", of=claim, rests_on=["t-a"])
    check_references({"banditq": paper}, real.config())


def test_ids_are_those_of_all_papers():
    papers = {slug: paper_of(slug, t_a=claim) for slug in ("banditq", "ht_ucb")}
    with pytest.raises(ConfigError, match="two papers have a claim 't-a'"):
        check_references(papers, real.config())


def test_the_paper_is_that_of_its_folder(tmp_path):
    (tmp_path / "papers" / "ht_ucb").mkdir(parents=True)
    config = SimpleNamespace(experiments=[SimpleNamespace(paper="ht_ucb")])
    assert load_papers(config, tmp_path) == {}
    written(tmp_path / "papers" / "ht_ucb")
    with pytest.raises(ConfigError, match="the paper must be 'ht_ucb', got 'banditq'"):
        load_papers(config, tmp_path)


def test_the_digest_is_of_what_asks(tmp_path):
    """Of the tokens of a file and of those that it imports, not of its prose."""
    text = SOURCE.replace("\n\npaper = ", "\n\nimport words\n\npaper = ")
    file = written(tmp_path, text)
    (tmp_path / "words.py").write_text("LIMIT = 0\n")
    (tmp_path / "not_imported.py").write_text("LIMIT = 0\n")
    before = load(file).digest
    written(tmp_path, text.replace("Or nearly.", "Or not.") + "\n# a comment\n")
    (tmp_path / "not_imported.py").write_text("LIMIT = 1\n")
    assert asking_code(file) == before
    (tmp_path / "words.py").write_text("LIMIT = 1\n")
    assert asking_code(file) != before
    (tmp_path / "words.py").write_text("LIMIT = 0\n")
    written(tmp_path, text.replace("at_least=0", "at_least=1"))
    assert asking_code(file) != before


def test_a_new_measure_of_one_paper_leaves_the_other_papers_as_they_are(tmp_path):
    digests = {}
    for slug in ("banditq", "ht_ucb"):
        (tmp_path / slug).mkdir()
        for source in (ROOT / "papers" / slug).glob("*.py"):
            (tmp_path / slug / source.name).write_bytes(source.read_bytes())
        digests[slug] = asking_code(tmp_path / slug / "claims.py")
    assert digests == {slug: real.papers()[slug].digest for slug in digests}
    with (tmp_path / "banditq" / "measures.py").open("a") as file:
        file.write('\n\n@measure("")\ndef of_it(cell):\n    return 1\n')
    now = {slug: asking_code(tmp_path / slug / "claims.py") for slug in digests}
    assert [slug for slug in digests if now[slug] != digests[slug]] == ["banditq"]
