"""The product's own JSON form of a queue tree, and the notations of the values in it."""
