"""What queues deserve, calculated for the audit of policy ``deserved`` alone."""
