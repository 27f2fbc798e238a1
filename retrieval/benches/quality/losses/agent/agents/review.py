"""The agent that reviews changes."""


def review(diff, model):
    """What a model has to say of a change."""
    return model.ask(f"Review this change:\n{diff}")


def parse_review(reply):
    """The remarks of a review, one a line."""
    return [line.strip("- ") for line in reply.splitlines() if line.startswith("-")]
