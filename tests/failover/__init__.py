"""Long trials of what several servers promise together; `make failover` runs them all."""
