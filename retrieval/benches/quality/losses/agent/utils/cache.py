"""Keeps the results of functions in files."""


def file_cache():
    def decorate(function):
        return function
    return decorate
