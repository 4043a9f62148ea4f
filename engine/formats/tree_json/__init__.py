"""The product's own JSON format of a queue tree, and the notations of its values."""
