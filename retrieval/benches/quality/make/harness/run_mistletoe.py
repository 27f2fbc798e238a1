import mistletoe
from mistletoe.ast_renderer import ASTRenderer


def run(text):
    mistletoe.markdown(text)
    mistletoe.markdown(text, ASTRenderer)
