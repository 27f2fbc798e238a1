"""The agent that modifies files: reads the model's calls and carries them out."""

from agent.agents.calls import FunctionCall
from agent.utils.paths import is_inside

TOOLS = {"make_change": ["file_path", "original_code", "new_code"], "create_file": ["file_path", "contents"]}


def validate_and_parse_function_call(reply):
    """The call in a reply of the model, if it is one that the agent knows."""
    call = FunctionCall.from_string(reply)
    if call is None or call.name not in TOOLS:
        return None
    missing = [name for name in TOOLS[call.name] if name not in call.parameters]
    return None if missing else call


def handle_function_call(root, call, state):
    """Carries out one call: changes a file or creates one."""
    path = call.parameters["file_path"]
    if call.name == "create_file":
        state.files[path] = call.parameters["contents"]
        return f"created {path}"
    text = state.files[path]
    state.files[path] = text.replace(call.parameters["original_code"], call.parameters["new_code"])
    return f"changed {path}"


def modify(root, request, model, state):
    """Runs the agent until the model has nothing more to modify."""
    for _ in range(20):
        call = validate_and_parse_function_call(model.ask(request, state))
        if call is None:
            return state
        request += handle_function_call(root, call, state)
    return state


def generate_diffs(before, after):
    """What an agent's run changed."""
    return {path: (before.get(path), text) for path, text in after.items() if before.get(path) != text}
