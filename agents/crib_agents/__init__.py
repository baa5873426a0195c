"""Players of cribbage: what a bot is, the ones that come with the library, trained ones."""

from crib_agents.bot import BatchBot, Bot, BotError, ViewBot
from crib_agents.registry import bot_names, make_bot

__all__ = ["BatchBot", "Bot", "BotError", "ViewBot", "bot_names", "make_bot"]
