// The client against the real server: the program in HEIRLOOM_BINARY, with a home and a project that nobody else has.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";

const { Heirloom, HeirloomError } = await import(process.env.HEIRLOOM_CLIENT ?? "heirloom-memory");
const binary = process.env.HEIRLOOM_BINARY;
const home = mkdtempSync(join(tmpdir(), "hl-ts-"));
let server;
let url;
let tokenFile;

before(async () => {
  delete process.env.HEIRLOOM_TOKEN;
  delete process.env.HEIRLOOM_DATABASE_URL;
  Object.assign(process.env, { HOME: home, XDG_DATA_HOME: join(home, "data"), XDG_CONFIG_HOME: join(home, "config") });
  const project = join(home, "project");
  mkdirSync(project);
  execFileSync(binary, ["init", "--project", project], { cwd: home, stdio: "ignore" });
  server = spawn(binary, ["serve", "--listen", "127.0.0.1:0", project], { cwd: home, stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  url = (await lines.next()).value.replace("listening on ", "");
  tokenFile = (await lines.next()).value.replace("token file ", "");
});

after(async () => {
  server.kill();
  await new Promise((done) => server.on("exit", done));
  rmSync(home, { recursive: true, force: true });
});

const failure = (code, status) => (error) => error instanceof HeirloomError && error.code === code && error.status === status;

test("a memory is added, read, changed with its version, retired and restored", async () => {
  const memory = new Heirloom({ url });
  const added = await memory.add({ kind: "decision", text: "Use Kafka for events because they are replayed" });
  const read = await memory.get(added.id);
  assert.equal(read.version, added.version);
  const changed = await memory.update(added.id, read.version, { tags: ["stream"] });
  assert.notEqual(changed.version, read.version);
  await assert.rejects(memory.update(added.id, read.version, { tags: ["late"] }), failure("OCC_CONFLICT", 412));
  assert.equal((await memory.retire(added.id, "Replaced")).status, "retired");
  assert.equal((await memory.restore(added.id)).status, "restored");
});

test("the list goes through every page", async () => {
  const memory = new Heirloom({ url });
  for (let at = 0; at < 5; at++) {
    await memory.add({ kind: "constraint", text: `Keep queue ${at} below 100 because it blocks` });
  }
  const ids = [];
  for await (const one of memory.list({ kind: "constraint", limit: 2 })) ids.push(one.id);
  assert.equal(new Set(ids).size, 5);
  assert.equal(ids.length, 5);
});

test("search gives hits and recall a block", async () => {
  const memory = new Heirloom({ url });
  await memory.add({ kind: "constraint", text: "Call the billing API at most 40 times a minute because of the contract" });
  assert.match((await memory.search("billing api", { limit: 3 })).hits[0].id, /billing/);
  assert.match((await memory.recall("the billing api answers 429")).block, /^<memory-context/);
});

test("working memory keeps words and items", async () => {
  const session = new Heirloom({ url }).session("chat / 1");
  await session.append({ speaker: "user", content: "Hello" }, { speaker: "tool", item: { n: [1, null] } });
  assert.equal((await session.read()).messages.length, 2);
  assert.deepEqual((await session.pop()).item, { n: [1, null] });
  assert.equal((await session.clear()).cleared, 1);
  assert.equal(await session.pop(), null);
});

test("items are put, found and deleted", async () => {
  const { items } = new Heirloom({ url });
  await items.put({ namespace: ["users", "ann"], key: "drink", value: { text: "green tea" } });
  assert.deepEqual((await items.get(["users", "ann"], "drink")).value, { text: "green tea" });
  assert.equal((await items.search({ namespace_prefix: ["users"], query: "tea" })).items[0].key, "drink");
  assert.deepEqual((await items.namespaces({})).namespaces, [["users", "ann"]]);
  assert.equal((await items.delete(["users", "ann"], "drink")).deleted, true);
  await assert.rejects(items.get(["users", "ann"], "drink"), failure("NOT_FOUND", 404));
});

test("the memory tool answers with its texts", async () => {
  const memory = new Heirloom({ url });
  const path = "/memories/plan.md";
  const made = await memory.memoryTool({ command: "create", path, file_text: "one line" });
  assert.equal(made, `File created successfully at: ${path}`);
  await assert.rejects(memory.memoryTool({ command: "create", path, file_text: "x" }), /already exists/);
});

test("an error carries code, status and hint, and never the secret", async () => {
  const memory = new Heirloom({ url });
  await assert.rejects(memory.get("decision:none"), failure("NOT_FOUND", 404));
  const secret = `gh${"p_x7Kq2mZ9vB4nT6wR1yL8sD3fG5hJ0cAeQiUo"}`;
  const refused = await memory.add({ kind: "decision", text: `Deploy with ${secret} because` }).catch((why) => why);
  assert.equal(refused.code, "GATE_REFUSED");
  assert.ok(refused.hint && !`${refused.message}${refused.hint}`.includes(secret));
  await assert.rejects(new Heirloom({ url, token: "unknown" }).search("x"), failure("UNAUTHENTICATED", 401));
  await assert.rejects(new Heirloom({ url: "http://127.0.0.1:9", token: "x", prove: false }).search("x"), failure("UNREACHABLE"));
});

test("whoever else listens on the port gets no token", async () => {
  const seen = [];
  const impostor = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.end(JSON.stringify({ proof: "0".repeat(64) }));
  });
  await new Promise((done) => impostor.listen(0, "127.0.0.1", done));
  const there = `http://127.0.0.1:${impostor.address().port}`;
  await assert.rejects(new Heirloom({ url: there, token: "mine" }).search("x"), failure("SECURITY_ERROR"));
  assert.deepEqual(seen, [undefined]);
  impostor.closeAllConnections();
  impostor.close();
});

test("a token file that others can read is not used", async () => {
  chmodSync(tokenFile, 0o640);
  await assert.rejects(new Heirloom({ url }).search("x"), /can be read by others/);
  chmodSync(tokenFile, 0o600);
  assert.ok(readFileSync(tokenFile, "utf8").startsWith("hls_"));
});
