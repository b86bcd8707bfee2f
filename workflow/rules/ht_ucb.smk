"""Hard-threshold UCB: one rule per figure."""


use rule figure as ht_ucb_fig1 with:
    input:
        data=datasets_shown_in("ht_ucb", "fig1"),
    output:
        **drawn("HT-UCB", "1", "pulls against inverse gaps", caption="ht_ucb_pulls.rst"),
    pathvars:
        figure="ht_ucb/fig1",
    params:
        **params_of_figure("ht_ucb", "fig1"),


use rule figure as ht_ucb_fig2 with:
    input:
        data=datasets_shown_in("ht_ucb", "fig2"),
    output:
        **drawn("HT-UCB", "2", "penalised regret", caption="ht_ucb_regret.rst"),
    pathvars:
        figure="ht_ucb/fig2",
    params:
        **params_of_figure("ht_ucb", "fig2"),


use rule figure as ht_ucb_fig3 with:
    input:
        data=datasets_shown_in("ht_ucb", "fig3"),
    output:
        **drawn("HT-UCB", "3", "unfairness paths", caption="ht_ucb_paths.rst"),
    pathvars:
        figure="ht_ucb/fig3",
    params:
        **params_of_figure("ht_ucb", "fig3"),


use rule figure as ht_ucb_fig4 with:
    input:
        data=datasets_shown_in("ht_ucb", "fig4"),
    output:
        **drawn("HT-UCB", "4", "reward against unfairness", caption="ht_ucb_frontiers.rst"),
    pathvars:
        figure="ht_ucb/fig4",
    params:
        **params_of_figure("ht_ucb", "fig4"),
