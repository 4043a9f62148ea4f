"""The editor: drafts as grids that are edited in place, and the panels beside them."""
