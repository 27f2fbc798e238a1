"""Prunes the context of a request to the snippets that matter."""

from agent.core.graph import build_graph
from agent.utils.cache import file_cache


class RepoContextManager:
    """What is known of a repository, and what of it was chosen."""

    def __init__(self, dir_obj, snippets):
        self.dir_obj = dir_obj
        self.snippets = snippets
        self.current_top_snippets = []

    def add_snippets(self, snippets):
        self.current_top_snippets += [one for one in snippets if one not in self.current_top_snippets]


@file_cache()
def get_relevant_context(query, manager, seed=None, ticket_progress=None):
    """Chooses the snippets that a query needs, starting from the best ones."""
    if not manager.snippets:
        return manager
    graph = build_graph(manager.dir_obj)
    if seed is not None and not graph.nodes:
        return manager
    reached = context_dfs(query, manager, graph, depth=3)
    manager.add_snippets(reached)
    return manager


def context_dfs(query, manager, graph, depth):
    """Walks from the chosen snippets to what they import."""
    stack = [(snippet, 0) for snippet in manager.snippets]
    seen = []
    while stack:
        snippet, level = stack.pop()
        if snippet in seen or level > depth:
            continue
        seen.append(snippet)
        stack += [(other, level + 1) for other in graph.neighbours(snippet)]
    return seen


def parse_query_for_files(query, manager):
    """The files that a query names."""
    return [path for path in manager.dir_obj.paths if path in query]
