"""Long trials of several servers together; `make failover` runs them all."""
