import mistune


def run(text):
    mistune.create_markdown(plugins=["strikethrough", "footnotes", "table", "url", "task_lists", "def_list", "abbr"])(text)
