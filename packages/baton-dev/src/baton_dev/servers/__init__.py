"""PostgreSQL and Valkey from wheels: where their data is, on which ports, as which user, and when to use others."""
