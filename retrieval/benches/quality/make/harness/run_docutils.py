import io
from docutils.core import publish_string

SETTINGS = {"report_level": 5, "halt_level": 5, "warning_stream": io.StringIO(), "file_insertion_enabled": False, "raw_enabled": False, "traceback": True}


def run(text):
    publish_string(text, writer_name="pseudoxml", settings_overrides=SETTINGS)
