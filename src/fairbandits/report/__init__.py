"""The report: what its notebooks show, their execution, and the site that is built of them."""
