// Adds the token to every request: the conformance suite knows no way to send one. Everything else, Host and Origin included, goes on as it came.
// Usage: node relay.mjs PORT TOKEN_FILE; says its own port.
import { readFileSync } from "node:fs";
import { createServer, request } from "node:http";

const [, , port, tokenFile] = process.argv;
const token = readFileSync(tokenFile, "utf8").trim();
const relay = createServer((incoming, answer) => {
  const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
  // The server knows its own port only.
  for (const name of ["host", "origin"]) {
    if (headers[name]) headers[name] = headers[name].replace(`:${relay.address().port}`, `:${port}`);
  }
  const onward = request({ host: "127.0.0.1", port, method: incoming.method, path: incoming.url, headers }, (reply) => {
    answer.writeHead(reply.statusCode, reply.headers);
    reply.pipe(answer);
  });
  onward.on("error", () => answer.destroy());
  incoming.pipe(onward);
});
relay.listen(0, "127.0.0.1", () => console.log(relay.address().port));
