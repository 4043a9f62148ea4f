"""Plans, records, forecasts and compares whole passes over the pending pods of a cluster."""
