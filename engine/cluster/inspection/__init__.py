"""What is found out about a cluster before it is used."""
