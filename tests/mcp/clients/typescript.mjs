// The TypeScript SDK drives the bridge: typescript.mjs FOLDER VERSION REVISION, where VERSION is that of the SDK (1 or 2), and
// `legacy` means the newest revision with a handshake. Each step that is done prints a line; the test compares them all.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";

const [folder, version, revision] = process.argv.slice(2);
const require = createRequire(`${folder}/`);
const { BRATTICE, WS, OUT } = process.env;
const DANGER = { sandbox_permissions: "danger-full-access", justification: "the test wants it" };

// What differs between the two versions of the SDK.
const sdk = {
    1: () => {
        const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
        const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
        const { ElicitRequestSchema } = require("@modelcontextprotocol/sdk/types.js");
        return {
            Client, StdioClientTransport, elicitation: ElicitRequestSchema, options: {},
            call: (client, params, options) => client.callTool(params, undefined, options),
            spoken: (transport) => transport.protocolVersion ?? "2025-11-25",
        };
    },
    2: () => {
        const { Client } = require("@modelcontextprotocol/client");
        const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");
        const mode = revision === "legacy" ? "legacy" : { pin: revision };
        return {
            Client, StdioClientTransport, elicitation: "elicitation/create",
            options: { versionNegotiation: { mode } },
            call: (client, params, options) => client.callTool(params, options),
            spoken: (_, client) => client.getNegotiatedProtocolVersion(),
        };
    },
}[version]();

async function connect(capabilities, elicit) {
    const client = new sdk.Client({ name: "tests", version: "1" }, { ...sdk.options, capabilities });
    if (elicit) {
        client.setRequestHandler(sdk.elicitation, elicit);
    }
    const args = ["mcp", "--workspace", WS];
    const transport = new sdk.StdioClientTransport({ command: BRATTICE, args, env: { ...process.env } });
    await client.connect(transport);
    return { client, transport };
}

const bash = (client, command, more = {}, options = {}) =>
    sdk.call(
        client,
        { name: "bash", arguments: { command, description: "A test's command", ...more } },
        options,
    );
const text = (result) => result.content[0].text;

async function until(what, look) {
    for (let tries = 0; tries < 600; tries += 1) {
        if (await look()) {
            return;
        }
        await sleep(50);
    }
    throw new Error(`waited in vain: ${what}`);
}

const answers = [{ action: "accept", content: { decision: "allow_once" } }, { action: "decline" }];
const { client, transport } = await connect({ elicitation: { form: {} } }, async (request) => {
    assert.match(request.params.message, /command: /);
    return answers.shift();
});
console.log("speaks", sdk.spoken(transport, client));

const { tools } = await client.listTools();
const tool = (name) => tools.find((tool) => tool.name === name);
assert.ok(tool("read").annotations.readOnlyHint && tool("bash").annotations.destructiveHint);
assert.ok(tool("task_output"));
console.log("lists");

const result = await bash(client, "echo out; exit 3");
assert.equal(text(result), "out\n[exit code: 3]");
assert.deepEqual([result.isError, result.structuredContent.exit_code], [false, 3]);
console.log("calls");

const told = [];
const onprogress = (progress) => told.push(progress);
await bash(client, "for i in 1 2 3; do echo line $i; sleep 0.2; done", {}, { onprogress });
assert.ok(told.length > 0 && told.at(-1).message.startsWith("line 1"), JSON.stringify(told));
console.log("is told progress");

await bash(client, "echo from the background; sleep 0.2", { run_in_background: true });
const uri = "brattice://task/bash-3/stdout";
await until("output of the task", async () => {
    const { contents } = await client.readResource({ uri });
    return contents[0].text === "from the background\n";
});
assert.equal((await client.listResources()).resources[0].uri, uri);
console.log("reads a background task");

assert.ok(text(await bash(client, `touch ${OUT}/asked`)).includes(`denied: create ${OUT}/asked`));
const allowed = await bash(client, `touch ${OUT}/asked`, DANGER);
assert.ok(!allowed.isError && existsSync(`${OUT}/asked`), JSON.stringify(allowed));
console.log("is denied, asks and is allowed");

await bash(client, `touch ${OUT}/declined`);
const declined = await bash(client, `touch ${OUT}/declined`, DANGER);
assert.ok(declined.isError && text(declined).includes("the user rejected this command"), text(declined));
assert.ok(!existsSync(`${OUT}/declined`));
console.log("asks and is declined");

const abort = new AbortController();
const call = bash(client, "touch begun; sleep 2; touch over", {}, { signal: abort.signal });
await until("the command begins", () => existsSync(`${WS}/begun`));
abort.abort("enough");
await assert.rejects(call);
assert.ok(text(await bash(client, "sleep 2; echo next")).includes("next\n"));
assert.ok(!existsSync(`${WS}/over`));
console.log("cancels");
await client.close();

const { client: mute } = await connect({});
await bash(mute, `touch ${OUT}/approved`);
const required = await bash(mute, `touch ${OUT}/approved`, DANGER);
const [, command] = /`brattice (approve \S+)`/.exec(text(required));
assert.ok(required.isError);
execFileSync(BRATTICE, command.split(" "));
const approved = await bash(mute, `touch ${OUT}/approved`, DANGER);
assert.ok(!approved.isError && existsSync(`${OUT}/approved`), JSON.stringify(approved));
await mute.close();
console.log("is approved by an operator");
