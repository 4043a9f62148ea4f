"""Groups of pods that several policies decide as a whole: who their members are, and where these get a node."""
