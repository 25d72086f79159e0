"""The Python SDK drives the bridge: python.py REVISION, where `legacy` means the newest one with a handshake.

Each step that is done prints a line; the test compares them all.
"""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult

BRATTICE = os.environ["BRATTICE"]
WORKSPACE = Path(os.environ["WS"])
OUTSIDE = Path(os.environ["OUT"])
SERVER = StdioServerParameters(
    command=BRATTICE, args=["mcp", "--workspace", str(WORKSPACE)], env=dict(os.environ)
)
DANGER = {"sandbox_permissions": "danger-full-access", "justification": "the test wants it"}


def text(result):
    return result.content[0].text


async def bash(client, command, *, progress=None, **more):
    arguments = {"command": command, "description": "A test's command", **more}
    return await client.call_tool("bash", arguments, progress_callback=progress)


async def until(what, look):
    for _ in range(600):
        if found := await look():
            return found
        await asyncio.sleep(0.05)
    raise SystemExit(f"waited in vain: {what}")


async def run(revision):
    answers = [
        ElicitResult(action="accept", content={"decision": "allow_once"}),
        ElicitResult(action="decline"),
    ]

    async def elicit(_context, params):
        assert "command: " in params.message, params
        return answers.pop(0)

    async with Client(SERVER, mode=revision, elicitation_callback=elicit) as client:
        print("speaks", client.protocol_version)
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"bash", "task_output", "read"} <= set(tools), tools
        assert tools["read"].annotations.read_only_hint, tools["read"]
        assert tools["bash"].annotations.destructive_hint, tools["bash"]
        print("lists")

        result = await bash(client, "echo out; exit 3")
        assert text(result) == "out\n[exit code: 3]" and not result.is_error, result
        assert result.structured_content["exit_code"] == 3, result
        print("calls")

        told = []

        async def progress(at, _total, message):
            told.append((at, message))

        await bash(client, "for i in 1 2 3; do echo line $i; sleep 0.2; done", progress=progress)
        assert told and told == sorted(told) and told[-1][1].startswith("line 1"), told
        print("is told progress")

        await bash(client, "echo from the background; sleep 0.2", run_in_background=True)

        async def read():
            contents = await client.read_resource("brattice://task/bash-3/stdout")
            return contents.contents[0].text == "from the background\n"

        await until("output of the task", read)
        listed = await client.list_resources()
        assert str(listed.resources[0].uri) == "brattice://task/bash-3/stdout", listed
        print("reads a background task")

        denied = await bash(client, f"touch {OUTSIDE}/asked")
        assert f"denied: create {OUTSIDE}/asked" in text(denied), denied
        allowed = await bash(client, f"touch {OUTSIDE}/asked", **DANGER)
        assert not allowed.is_error and (OUTSIDE / "asked").exists(), allowed
        print("is denied, asks and is allowed")

        await bash(client, f"touch {OUTSIDE}/declined")
        declined = await bash(client, f"touch {OUTSIDE}/declined", **DANGER)
        assert declined.is_error and "the user rejected this command" in text(declined), declined
        assert not (OUTSIDE / "declined").exists()
        print("asks and is declined")

        call = asyncio.create_task(bash(client, "touch begun; sleep 2; touch over"))

        async def begun():
            return (WORKSPACE / "begun").exists()

        await until("the command begins", begun)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        assert "next\n" in text(await bash(client, "sleep 2; echo next"))
        assert not (WORKSPACE / "over").exists()
        print("cancels")

    async with Client(SERVER, mode=revision) as client:
        await bash(client, f"touch {OUTSIDE}/approved")
        required = await bash(client, f"touch {OUTSIDE}/approved", **DANGER)
        command = re.search(r"`brattice (approve \S+)`", text(required))
        assert required.is_error and command, required
        subprocess.run([BRATTICE, *command[1].split()], check=True, stdout=subprocess.DEVNULL)
        approved = await bash(client, f"touch {OUTSIDE}/approved", **DANGER)
        assert not approved.is_error and (OUTSIDE / "approved").exists(), approved
        print("is approved by an operator")


asyncio.run(run(sys.argv[1]))
