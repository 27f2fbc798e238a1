from pycparser import c_generator, c_parser
from pycparser.plyparser import ParseError


def run(text):
    try:
        tree = c_parser.CParser().parse(text)
    except ParseError:
        return
    c_generator.CGenerator().visit(tree)
