"""What `import fairbandits as fb` shows: run, compare, results, instances, contracts."""
