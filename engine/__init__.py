"""The preemption engine: it decides, explains and carries out preemption. It needs neither Django nor a database."""
