"""Which candidates on a node YuniKorn evicts."""
