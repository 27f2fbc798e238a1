import markdown


def run(text):
    markdown.markdown(text, extensions=["extra", "toc", "codehilite", "meta", "sane_lists", "smarty"])
