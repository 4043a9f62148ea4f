"""A whole pass over the pending pods of a cluster: planned, recorded, forecast and compared."""
