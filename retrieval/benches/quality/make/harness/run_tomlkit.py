import tomlkit
from tomlkit.exceptions import TOMLKitError


def run(text):
    try:
        document = tomlkit.parse(text)
    except (TOMLKitError, ValueError, RecursionError):
        return
    tomlkit.dumps(document)
