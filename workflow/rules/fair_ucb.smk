"""Fair-Learn and Fair-UCB: one rule per figure."""


use rule figure as fair_ucb_fig2 with:
    input:
        data=datasets_shown_in("fair_ucb", "fig2"),
    output:
        **drawn("Fair-UCB", "2", "cost of fairness", caption="fair_ucb_cost.rst"),
    pathvars:
        figure="fair_ucb/fig2",
    params:
        **params_of_figure("fair_ucb", "fig2"),


use rule figure as fair_ucb_fig3 with:
    input:
        data=datasets_shown_in("fair_ucb", "fig3"),
    output:
        **drawn("Fair-UCB", "3", "r-Regret", caption="fair_ucb_r_regret.rst"),
    pathvars:
        figure="fair_ucb/fig3",
    params:
        **params_of_figure("fair_ucb", "fig3"),


use rule figure as fair_ucb_fig4 with:
    input:
        data=datasets_shown_in("fair_ucb", "fig4"),
    output:
        **drawn("Fair-UCB", "4", "fairness guarantee", caption="fair_ucb_fairness.rst"),
    pathvars:
        figure="fair_ucb/fig4",
    params:
        **params_of_figure("fair_ucb", "fig4"),
