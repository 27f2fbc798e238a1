"""Paths of a repository."""

import os


def is_inside(root, path):
    """Whether a path stays below a root."""
    return os.path.realpath(os.path.join(root, path)).startswith(os.path.realpath(root) + os.sep)
