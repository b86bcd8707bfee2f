"""BF-UCB: one rule per figure."""


use rule figure as bf_ucb_fig1a with:
    input:
        data=datasets_shown_in("bf_ucb", "fig1a"),
    output:
        **drawn("BF-UCB", "1a", "reward regret, high separation", caption="bf_ucb_regret.rst"),
    pathvars:
        figure="bf_ucb/fig1a",
    params:
        **params_of_figure("bf_ucb", "fig1a"),


use rule figure as bf_ucb_fig1b with:
    input:
        data=datasets_shown_in("bf_ucb", "fig1b"),
    output:
        **drawn("BF-UCB", "1b", "reward regret, low separation", caption="bf_ucb_regret.rst"),
    pathvars:
        figure="bf_ucb/fig1b",
    params:
        **params_of_figure("bf_ucb", "fig1b"),


use rule figure as bf_ucb_fig2a with:
    input:
        data=datasets_shown_in("bf_ucb", "fig2a"),
    output:
        **drawn(
            "BF-UCB",
            "2a",
            "distance to the fair policy, high separation",
            caption="bf_ucb_distance.rst",
        ),
    pathvars:
        figure="bf_ucb/fig2a",
    params:
        **params_of_figure("bf_ucb", "fig2a"),


use rule figure as bf_ucb_fig2b with:
    input:
        data=datasets_shown_in("bf_ucb", "fig2b"),
    output:
        **drawn(
            "BF-UCB",
            "2b",
            "distance to the fair policy, low separation",
            caption="bf_ucb_distance.rst",
        ),
    pathvars:
        figure="bf_ucb/fig2b",
    params:
        **params_of_figure("bf_ucb", "fig2b"),


use rule figure as bf_ucb_fig3a with:
    input:
        data=datasets_shown_in("bf_ucb", "fig3a"),
    output:
        **drawn("BF-UCB", "3a", "rewards over UCB's", caption="bf_ucb_rewards.rst"),
    pathvars:
        figure="bf_ucb/fig3a",
    params:
        **params_of_figure("bf_ucb", "fig3a"),


use rule figure as bf_ucb_fig3b with:
    input:
        data=datasets_shown_in("bf_ucb", "fig3b"),
    output:
        **drawn("BF-UCB", "3b", "pulls of the groups", caption="bf_ucb_groups.rst"),
    pathvars:
        figure="bf_ucb/fig3b",
    params:
        **params_of_figure("bf_ucb", "fig3b"),


use rule figure as bf_ucb_fig3c with:
    input:
        data=datasets_shown_in("bf_ucb", "fig3c"),
    output:
        **drawn("BF-UCB", "3c", "pulls of the minority's arms", caption="bf_ucb_arms.rst"),
    pathvars:
        figure="bf_ucb/fig3c",
    params:
        **params_of_figure("bf_ucb", "fig3c"),
