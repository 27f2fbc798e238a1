"""Finds what a source file defines, by its syntax tree."""

from tree_sitter_languages import get_language

EXTENSIONS = {"py": "python", "js": "javascript", "rs": "rust"}


def get_parser(extension):
    """The tree-sitter parser of a language."""
    return get_language(EXTENSIONS[extension]).parser()


def extract_definitions(code, extension):
    """The names of the functions and classes that a tree-sitter tree holds."""
    tree = get_parser(extension).parse(code.encode())
    found = []
    stack = [tree.root_node]
    while stack:
        node = stack.pop()
        if node.type.endswith("_definition"):
            found.append(node.child_by_field_name("name").text.decode())
        stack += node.children
    return found


def count_lines(code):
    return code.count("\n") + 1
