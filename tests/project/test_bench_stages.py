"""Where the time of a run goes."""

import stages
from click.testing import CliRunner

HEADER = "s\th:m:s\tcpu_time\n"


def written(folder, **files):
    """Write benchmark files as Snakemake does; return their folder."""
    for name, rows in files.items():
        file = folder.joinpath(*name.split("__")).with_suffix(".tsv")
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = [f"{seconds}\t0:00:01\t{cpu}\n" for seconds, cpu in rows]
        file.write_text(HEADER + "".join(lines))
    return folder


def test_processes_of_a_stage_and_paper_are_added(tmp_path):
    folder = written(
        tmp_path,
        simulate__simulate_fair_ucb_1=[(10.0, 8.0)],
        simulate__simulate_fair_ucb_2=[(30.0, 25.0)],
        simulate__simulate_ht_ucb_1=[(5.0, 4.0)],
        fair_ucb__fig2=[(3.0, 2.0)],
        audit__verdicts=[(2.0, 1.0)],
        site=[(7.0, 6.0)],
    )
    assert list(stages.stages(folder, 2.0)) == [
        ("figures", "fair_ucb", "1", "3", "2", "3", "1.5"),
        ("judging", "", "1", "2", "1", "2", "1.0"),
        ("simulating", "fair_ucb", "2", "40", "33", "30", "20.0"),
        ("simulating", "ht_ucb", "1", "5", "4", "5", "2.5"),
        ("site", "", "1", "7", "6", "7", "3.5"),
        ("all", "", "6", "57", "46", "30", "28.5"),
    ]
    assert stages.whole_run(folder, 2.0) == ""  # other jobs than those of the configuration


def test_what_was_not_measured_is_no_zero(tmp_path):
    folder = written(tmp_path, site=[(0.1, "NA"), (4.0, 3.0)])
    assert next(stages.stages(folder)) == ("site", "", "2", "4", "at least 3", "4", "")


def test_a_run_without_benchmarks_is_refused(tmp_path):
    done = CliRunner().invoke(stages.main, [str(tmp_path)])
    assert done.exit_code == 1
    assert f"no benchmark files in {tmp_path}; `make replicate` makes them" in done.stderr
