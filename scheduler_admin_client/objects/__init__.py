"""Objects of a site that are declared in files: read, planned and applied."""
