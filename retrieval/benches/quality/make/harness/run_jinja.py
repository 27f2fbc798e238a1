from jinja2 import Environment, TemplateError
from jinja2.sandbox import SandboxedEnvironment

ENVIRONMENT = SandboxedEnvironment(extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols", "jinja2.ext.i18n"])


def run(text):
    try:
        template = ENVIRONMENT.from_string(text)
        template.module
    except (TemplateError, ZeroDivisionError, TypeError, OverflowError, ValueError, MemoryError, KeyError):
        pass
