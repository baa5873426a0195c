"""How good a player is: measured matches, and the tables measured from self-play."""
