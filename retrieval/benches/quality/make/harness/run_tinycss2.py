import tinycss2
import tinycss2.color3
import tinycss2.nth


def run(text):
    rules = tinycss2.parse_stylesheet(text)
    tinycss2.serialize(rules)
    for rule in rules:
        if rule.type == "qualified-rule":
            for declaration in tinycss2.parse_declaration_list(rule.content):
                if declaration.type == "declaration":
                    for token in declaration.value:
                        tinycss2.color3.parse_color(token)
            tinycss2.nth.parse_nth(rule.prelude)
    tinycss2.parse_one_rule(text)
