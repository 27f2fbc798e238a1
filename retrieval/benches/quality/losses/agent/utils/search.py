"""Searches a repository for words."""


def search_files(paths, words):
    return [path for path in paths if any(word in path for word in words)]


def rank_snippets(snippets, query):
    """Snippets by how many words of a query they hold."""
    return sorted(snippets, key=lambda snippet: -sum(word in snippet.content for word in query.split()))
