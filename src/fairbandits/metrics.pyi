"""What a type checker sees of `fairbandits.metrics`, which imports a name on first use."""

from fairbandits.measures.groups import group_deficits as group_deficits
from fairbandits.measures.groups import group_regret as group_regret
from fairbandits.measures.groups import jain_index as jain_index
from fairbandits.measures.groups import per_group as per_group
from fairbandits.measures.groups import policy_distance as policy_distance
from fairbandits.measures.penalised import mean_reward as mean_reward
from fairbandits.measures.penalised import penalised_loss as penalised_loss
from fairbandits.measures.penalised import penalised_regret as penalised_regret
from fairbandits.measures.penalised import regret_parts as regret_parts
from fairbandits.measures.penalised import unfairness as unfairness
from fairbandits.measures.penalised import unfairness_levels as unfairness_levels
from fairbandits.measures.penalties import penalty_rates as penalty_rates
from fairbandits.measures.pulls import r_regret as r_regret
from fairbandits.measures.pulls import regret as regret
from fairbandits.measures.pulls import violation as violation
from fairbandits.measures.rates import realised_regret as realised_regret
from fairbandits.measures.rates import reward_rates as reward_rates
from fairbandits.measures.rates import target_regret as target_regret
from fairbandits.measures.rates import target_violation as target_violation
