"""A contest of gangs: who gets the room of several nodes that is made for a group of pods as a whole?"""
