"""An orchestrator's state in Moss: fan-out, fan-in, recovery, dead letters, run records and verifier rounds."""
