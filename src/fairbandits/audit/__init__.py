"""The audit: a ledger of claims as data, and the statistical procedures that judge them."""
