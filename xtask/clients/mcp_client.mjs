// The official TypeScript SDKs, version 1 and 2, against the MCP doors; and what the list of tools costs a model.
// Usage: node mcp_client.mjs PROGRAM PROJECT [URL TOKEN_FILE]
import { readFileSync } from "node:fs";
import * as v2 from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Stdio1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { encode } from "gpt-tokenizer/encoding/o200k_base";

const [, , program, project, url, tokenFile] = process.argv;
const server = { command: program, args: ["mcp", "--project", project], env: process.env, stderr: "ignore" };
const headers = url ? { Authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}` } : {};
const doors = [
  ["v1 stdio", Client1, () => new Stdio1(server), {}],
  ["v2 stdio", v2.Client, () => new Stdio2(server), { versionNegotiation: { mode: "auto" } }],
];
if (url) {
  doors.push(["v1 http", Client1, () => new Http1(new URL(url), { requestInit: { headers } }), {}]);
  doors.push(["v2 http", v2.Client, () => new v2.StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }), { versionNegotiation: { mode: "auto" } }]);
}
const must = (holds, what) => {
  if (!holds) throw new Error(what);
};
let failed = 0;
for (const [label, Client, door, options] of doors) {
  try {
    const client = new Client({ name: "test", version: "1" }, options);
    await client.connect(door());
    const { tools } = await client.listTools();
    must(tools.length === 8, `${tools.length} tools`);
    const seen = encode(JSON.stringify(tools.map((tool) => ({ name: tool.name, description: tool.description, input_schema: tool.inputSchema })))).length;
    const all = encode(JSON.stringify(tools)).length;
    must(all <= 1500, `the list costs ${all} tokens`);
    const call = async (name, args) => {
      const result = await client.callTool({ name, arguments: args });
      must(!result.isError, `${name}: ${result.content[0].text}`);
      must(result.structuredContent.project.id, `${name} names no project`);
      return result.structuredContent;
    };
    const added = await call("add_memory", { kind: "decision", text: `Use the ${label} client because typescript has one` });
    const found = await call("search_memories", { query: `${label} client typescript` });
    must(found.hits.some((hit) => hit.id === added.id), "a write is not seen by the next read");
    const got = await call("get_memory", { ids: [added.id] });
    await call("update_memory", { id: added.id, version: got.memories[0].version, tags: ["changed"] });
    await call("list_memories", {});
    await call("recall", { prompt: "which client?" });
    await call("session_memory", { action: "read", session: label });
    await call("retire_memory", { id: added.id, reason: "the test is over" });
    const refused = await client.callTool({ name: "search_memories", arguments: { query: " " } });
    must(refused.isError && refused.structuredContent.error.code === "USAGE", "a refusal is no error");
    console.log(`passed: typescript ${label} ${client.getNegotiatedProtocolVersion?.() ?? ""}; list ${all} tokens, ${seen} of them for the model`);
    await client.close();
  } catch (wrong) {
    failed += 1;
    console.log(`failed: typescript ${label}: ${String(wrong).slice(0, 400)}`);
  }
}
process.exit(failed ? 1 : 0);
