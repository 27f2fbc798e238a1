import html5lib


def run(text):
    tree = html5lib.parse(text, treebuilder="etree")
    html5lib.serialize(tree, tree="etree", quote_attr_values="always", omit_optional_tags=True)
    html5lib.parseFragment(text, container="select", treebuilder="dom")
