"""Reading of YAML and JSON documents with line numbers, and changing them without altering the rest of the text."""
