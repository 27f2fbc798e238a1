import parso


def run(text):
    grammar = parso.load_grammar()
    module = grammar.parse(text, error_recovery=True)
    list(grammar.iter_errors(module))
    module.get_code()
    try:
        grammar.parse(text, error_recovery=False)
    except parso.ParserSyntaxError:
        pass
