"""Which file imports which."""


class ImportGraph:
    def __init__(self):
        self.nodes = {}

    def neighbours(self, snippet):
        return self.nodes.get(snippet, [])


def build_graph(dir_obj):
    graph = ImportGraph()
    for path in dir_obj.paths:
        graph.nodes[path] = [line.split()[1] for line in dir_obj.read(path) if line.startswith("import ")]
    return graph
