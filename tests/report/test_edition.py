"""The page of the third edition: what referees said, and the verdicts before and after."""

import pytest
import yaml

import real
from fairbandits.report import edition
from fairbandits.settings.schemas import ROOT, ConfigError

LEDGERS = real.ledgers()
ONE = {"claim": "banditq-prop6", "said": "Too weak: $a|b$.", "done": "Judged anew.", "agree": True}


@pytest.fixture
def project(tmp_path):
    """Return a function from remarks on BanditQ to the page of a project that has these."""
    (tmp_path / "papers" / "banditq").mkdir(parents=True)
    (tmp_path / "second-edition.csv").write_text("id,verdict\nbanditq-prop6,inconclusive\nx,y\n")
    verdicts = "id,reading,verdict,grade\nbanditq-prop6,,reproduced,exact\nbanditq-prop6,a,b,c\n"
    (tmp_path / "verdicts.csv").write_text(verdicts)

    def write(*remarks):
        (tmp_path / "papers" / "banditq" / "referee.yaml").write_text(yaml.safe_dump([*remarks]))
        return edition.page(LEDGERS, tmp_path, tmp_path)

    return write


def test_a_remark_stands_beside_both_verdicts(project):
    gone = {"claim": "banditq-gone", "said": "No claim.", "done": "Dropped.", "dropped": True}
    new = ONE | {"claim": "banditq-prop2-violation", "agree": False}
    text = project(ONE, gone | {"agree": True}, new)
    kept, dropped, unjudged = [line for line in text.splitlines() if line.startswith("| `")]
    assert kept == (
        r"| `banditq-prop6` | Too weak: $a\|b$. | Judged anew. | inconclusive | reproduced, exact "
        "| yes |"
    )
    assert dropped.endswith("| not there | dropped | yes |")
    assert unjudged.endswith("| not there | not judged yet | no |")
    assert "3 remarks, 2 of which we agree with, on 3 claims, 3 of which have another" in text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"claim": "banditq-prop66"}, "no claim 'banditq-prop66'; did you mean 'banditq-prop6'?"),
        ({"dropped": True}, "banditq-prop6 is marked as dropped, but it has a record"),
        ({"agree": "yes"}, "remarks.0.agree"),
        ({"sad": "x"}, "unknown key 'sad'; did you mean 'said'?"),
        ({"done": ""}, "remarks.0.done"),
    ],
)
def test_what_is_refused(changes, said, project):
    with pytest.raises(ConfigError) as error:
        project(ONE | changes)
    assert str(error.value).startswith("papers/banditq/referee.yaml: ")
    assert said in str(error.value)


def test_the_page_is_that_of_the_committed_tables():
    text = (ROOT / edition.PAGE).read_text(encoding="utf-8")
    assert text == edition.page(LEDGERS, ROOT / "audit"), "fairbandits numbers"
