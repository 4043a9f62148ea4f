"""Every small world, what policy ``fence`` would do in it, and what the rules allow.

``worlds``: what there is. ``side_by_side``: what the policy says. ``lawful_sets``: what the rules say, by trying every
set of pods. ``answers``: both, held against each other.
"""
