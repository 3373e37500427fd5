"""The PostgreSQL engine, for stores that several machines share; imported only if a URL names one."""
