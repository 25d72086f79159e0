// An agent's loop over Brattice's socket, with nothing but Node's own library. Node 22.18 or newer runs it as it is:
//
//     node examples/agent.ts WORKSPACE [--yes]
//
// What needs a wider sandbox mode is asked on the terminal; --yes answers for you.
import { connect } from "node:net";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { createInterface as prompt } from "node:readline/promises";

type Json = any; // what is on the wire

const [workspace, ...flags] = process.argv.slice(2);
const { BRATTICE_SOCKET: path, BRATTICE_STATE: state, XDG_RUNTIME_DIR: runtime } = process.env;
const folder = runtime ? join(runtime, "brattice") : state || join(homedir(), ".local/state/brattice");
const socket = connect(path || join(folder, "brattice.sock"));
const waiting = new Map<number, Json>();
const send = (message: Json) => socket.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");

let last = 0;
const request = (method: string, params: Json): Promise<Json> =>
  new Promise((resolve, reject) => {
    waiting.set(++last, { resolve, reject });
    send({ id: last, method, params });
  });

/** Puts an approval to the person at the terminal. Whatever is no plain yes is a no. */
async function approve(asked: Json): Promise<Json> {
  console.log(`? ${asked.from} -> ${asked.to} in ${asked.workdir}`, [asked.justification, asked.command]);
  const terminal = prompt({ input: process.stdin, output: process.stdout });
  const answer = flags.includes("--yes") ? "y" : await terminal.question("? Allow once? [y/N] ");
  terminal.close();
  return { outcome: "selected", option: answer === "y" ? "allow_once" : "reject_once" };
}

createInterface({ input: socket }).on("line", async (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === "approval.request") send({ id, result: await approve(params) }); // while the call waits
  else if (error) waiting.get(id)?.reject(new Error(error.message));
  else if (!method) waiting.get(id)?.resolve(result);
});

const text = (result: Json): string => result.content?.map((part: Json) => part.text).join("\n") ?? "";

/** Stands in for a model: post `messages` and `tools` to a messages API here, and return its content. */
async function model(messages: Json[], tools: Json[]): Promise<Json[]> {
  const touch = "touch ~/made-by-an-agent && echo made";
  const wider = { sandbox_permissions: "danger-full-access", justification: "the task names that file" };
  const script: [string, Json][] = [
    ["bash", { command: touch }], // refused: the home is outside of the workspace
    ["bash", { command: touch, ...wider }], // the same once more, and a person is asked
    ["bash", { command: "sleep 1; echo built", run_in_background: true }],
    ["task_output", { task_id: text(messages.at(-1)?.content[0]).split(" ").at(-1), wait: true }],
  ];
  const step = messages.filter((message) => message.role === "assistant").length;
  if (step === script.length) return [{ type: "text", text: "All done." }];
  const [name, input] = script[step];
  return [{ type: "tool_use", id: `call_${step}`, name, input }];
}

await request("hello", { protocol: 1, client: { name: "agent.ts", version: "1" }, answers: ["approval"] });
const { session } = await request("session.open", { workspace: resolve(workspace) });
const { tools } = await request("tools.list", { session, format: "anthropic" });
const messages: Json[] = [{ role: "user", content: "Make the file, then build." }];
for (let results: Json[] = [{}]; results.length > 0; ) {
  const content = await model(messages, tools);
  results = [];
  for (const block of content) {
    if (block.type !== "tool_use") continue;
    console.log(`> ${block.name} ${JSON.stringify(block.input)}`);
    const result = await request("tools.call", { session, call: block.id, name: block.name, arguments: block.input });
    console.log(text(result));
    results.push({ type: "tool_result", tool_use_id: block.id, content: result.content, is_error: result.isError });
  }
  messages.push({ role: "assistant", content }, { role: "user", content: results });
}
console.log(messages.at(-2)?.content[0].text);
await request("session.close", { session }).then(() => socket.end());
