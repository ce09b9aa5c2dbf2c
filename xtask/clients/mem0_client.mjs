// mem0's published client for TypeScript against the server. Comes in: the server's address and a token that may store facts. Goes out: a line for
// each thing tried.
import assert from "node:assert/strict";
process.env.MEM0_TELEMETRY = "false";
const module = await import("mem0ai");
const MemoryClient = module.default?.default ?? module.default ?? module.MemoryClient;
const [url, token] = process.argv.slice(2);
const client = new MemoryClient({ apiKey: token, host: `${url}/mem0` });

async function told(name, run) {
  try {
    await run();
    console.log(`passed: mem0 for TypeScript: ${name}`);
  } catch (error) {
    console.log(`failed: mem0 for TypeScript: ${name}: ${error.message.split("\n")[0]}`);
  }
}

await told("the whole round trip", async () => {
  await client.ping();
  const added = await client.add([{ role: "user", content: "ts likes green tea" }], { userId: "ts" });
  assert.equal(added.status, "SUCCEEDED");
  const { id } = added.results[0];
  const found = await client.search("green tea", { filters: { user_id: "ts" } });
  assert.equal(found.results[0].id, id);
  const all = await client.getAll({ filters: { user_id: "ts" }, page: 1, pageSize: 10 });
  assert.deepEqual([all.count, all.results[0].memory, all.results[0].userId], [1, "ts likes green tea", "ts"]);
  assert.equal((await client.update(id, { text: "ts likes coffee" })).memory, "ts likes coffee");
  assert.equal((await client.get(id)).memory, "ts likes coffee");
  const steps = await client.history(id);
  assert.deepEqual(steps.map((step) => [step.event, step.oldMemory, step.newMemory]), [
    ["ADD", null, "ts likes green tea"],
    ["UPDATE", "ts likes green tea", "ts likes coffee"],
  ]);
  const users = await client.users();
  assert.ok(users.results.some((one) => one.type === "user" && one.name === "ts"));
  assert.ok((await client.delete(id)).message);
  await assert.rejects(client.get(id));
  await client.add([{ role: "user", content: "one more" }], { userId: "ts" });
  await client.deleteAll({ userId: "ts" });
  assert.equal((await client.getAll({ filters: { user_id: "ts" } })).count, 0);
});

await told("what is refused says why", async () => {
  await assert.rejects(client.add([{ role: "user", content: "x" }], { userId: "ts", infer: true }), /nothing was stored/);
  await assert.rejects(client.deleteAll({}), /label/);
  await assert.rejects(client.getAll({}), /label/);
  const nobody = new MemoryClient({ apiKey: "nobody", host: `${url}/mem0` });
  await assert.rejects(nobody.ping());
});
process.exit(0);
