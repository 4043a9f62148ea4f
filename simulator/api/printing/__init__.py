"""How objects look from outside: whole, as a table, or as metadata alone."""
