"""What happened when, over all families: the figures that people see first, and what changed since."""
