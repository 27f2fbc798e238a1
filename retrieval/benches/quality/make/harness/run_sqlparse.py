import sqlparse


def run(text):
    for options in ({}, {"reindent": True, "keyword_case": "upper"}, {"reindent_aligned": True, "strip_comments": True}):
        sqlparse.format(text, **options)
    for statement in sqlparse.parse(text):
        statement.get_type()
        for token in statement.get_sublists():
            token.get_name(), token.get_alias(), token.get_parent_name()
            if isinstance(token, sqlparse.sql.IdentifierList):
                list(token.get_identifiers())
            if isinstance(token, sqlparse.sql.Function):
                token.get_parameters()
