"""YAML and JSON documents: read with the lines of everything, and changed with all else as it was typed."""
