"""The PostgreSQL engine, for stores that several machines share; imported only where a URL names one."""
