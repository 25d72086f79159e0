#!/usr/bin/env python3
"""An agent's loop over Brattice's socket, with nothing but Python's own library.

    python3 examples/agent.py WORKSPACE [--yes]

What needs a wider sandbox mode is asked on the terminal; --yes answers for you.
"""
import itertools, json, os, socket, sys

workspace, says_yes = sys.argv[1], "--yes" in sys.argv[2:]
runtime, state = os.environ.get("XDG_RUNTIME_DIR"), os.environ.get("BRATTICE_STATE", "~/.local/state/brattice")
folder = f"{runtime}/brattice" if runtime else os.path.expanduser(state)
path = os.environ.get("BRATTICE_SOCKET", f"{folder}/brattice.sock")


def approve(asked):
    """Puts an approval to the person at the terminal. Whatever is no plain yes is a no."""
    print(f"? {asked['from']} -> {asked['to']} in {asked['workdir']}", [asked["justification"], asked["command"]])
    answer = "y" if says_yes else input("? Allow once? [y/N] ")
    return {"outcome": "selected", "option": "allow_once" if answer == "y" else "reject_once"}


class Brattice:
    def __init__(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(path)
        self.lines, self.ids = connection.makefile("rw", encoding="utf-8"), itertools.count(1)
        self.request("hello", protocol=1, client={"name": "agent.py", "version": "1"}, answers=["approval"])

    def send(self, **message):
        self.lines.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.lines.flush()

    def request(self, method, **params):
        number = next(self.ids)
        self.send(id=number, method=method, params=params)
        for message in map(json.loads, self.lines):
            if message.get("method") == "approval.request":  # the daemon asks, while the call waits
                self.send(id=message["id"], result=approve(message["params"]))
            elif message.get("id") == number and "method" not in message:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
        raise ConnectionError("the daemon closed the connection")


def model(messages, tools):
    """Stands in for a model: post `messages` and `tools` to a chat completions API here, and return its message."""
    touch = "touch ~/made-by-an-agent && echo made"
    wider = {"sandbox_permissions": "danger-full-access", "justification": "the task names that file"}
    script = [
        ("bash", {"command": touch}),  # refused: the home is outside of the workspace
        ("bash", {"command": touch, **wider}),  # the same once more, and a person is asked
        ("bash", {"command": "sleep 1; echo built", "run_in_background": True}),
        ("task_output", {"task_id": messages[-1]["content"].split()[-1], "wait": True}),  # "started … bash-3"
    ]
    step = sum(message["role"] == "assistant" for message in messages)
    if step == len(script):
        return {"role": "assistant", "content": "All done."}
    function = {"name": script[step][0], "arguments": json.dumps(script[step][1])}
    call = {"id": f"call_{step}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


brattice = Brattice()
session = brattice.request("session.open", workspace=os.path.abspath(workspace))["session"]
tools = brattice.request("tools.list", session=session, format="openai")["tools"]
messages = [{"role": "user", "content": "Make the file, then build."}]
while (answer := model(messages, tools)).get("tool_calls"):
    messages.append(answer)
    for call in answer["tool_calls"]:
        name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
        print(f"> {name} {arguments}")
        result = brattice.request("tools.call", session=session, call=call["id"], name=name, arguments=arguments)
        text = "\n".join(part["text"] for part in result["content"])
        print(text)
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
print(answer["content"])
brattice.request("session.close", session=session)
