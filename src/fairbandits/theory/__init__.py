"""What a policy is compared with: static optima, oracles and fluid laws."""
