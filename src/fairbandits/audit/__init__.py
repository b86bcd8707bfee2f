"""The audit: claims as functions, and the statistical procedures that judge them."""
