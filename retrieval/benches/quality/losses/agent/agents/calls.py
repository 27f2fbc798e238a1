"""Calls of functions as a model writes them."""

import json


class FunctionCall:
    def __init__(self, name, parameters):
        self.name = name
        self.parameters = parameters

    @staticmethod
    def from_string(text):
        try:
            read = json.loads(text)
        except ValueError:
            return None
        return FunctionCall(read["name"], read.get("parameters", {}))
