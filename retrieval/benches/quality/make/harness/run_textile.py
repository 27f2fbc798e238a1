import textile


def run(text):
    textile.textile(text, html_type="html5")
