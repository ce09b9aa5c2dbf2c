/**
 * Where the server is, the token for it, and whether the server is this account's own.
 *
 * On a shared machine any account can listen on a port. A server on this machine therefore proves first that it reads this account's
 * `server/key`: HMAC-SHA-256 over the host and a fresh nonce. In a browser there are no files: pass a token.
 */
import { HeirloomError, type Options } from "./index.js";

export interface Access {
  url: string;
  host: string;
  token: string;
  /** The key to check the server with, if it is on this machine and there is one. */
  key?: Uint8Array<ArrayBuffer>;
}

/** Finds the token: the option, HEIRLOOM_TOKEN, the server's token file. */
export async function findAccess(options: Options): Promise<Access> {
  const url = new URL(options.url ?? "http://127.0.0.1:7411");
  const local = ["localhost", "[::1]"].includes(url.hostname) || url.hostname.startsWith("127.");
  const files = local && typeof process !== "undefined" ? await ownFiles() : undefined;
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const named = options.token ?? (typeof process === "undefined" ? undefined : process.env.HEIRLOOM_TOKEN || undefined);
  const token = named ?? (await files?.(`${port}.token`))?.toString("ascii").trim();
  if (!token) {
    const hint = "start `heirloom serve`, pass a token, or set HEIRLOOM_TOKEN";
    throw new HeirloomError(`there is no token for ${url.origin}`, "UNAUTHENTICATED", undefined, hint);
  }
  const key = options.prove === false ? undefined : await files?.("key");
  return { url: url.href.replace(/\/+$/, ""), host: url.host, token, key: key && Uint8Array.from(key) };
}

/** Lets the server prove that it reads this account's key. No token goes with it. */
export async function prove(access: Access, ask: (url: URL) => Promise<Response>): Promise<void> {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const nonce = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const url = new URL(`${access.url}/v1/proof?nonce=${nonce}`);
  const answer: any = await (await ask(url)).json().catch(() => undefined);
  const message = new TextEncoder().encode(`heirloom server\0${access.host.toLowerCase()}\0${nonce}`);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", access.key!, algorithm, false, ["verify"]);
  const hex: string = typeof answer?.proof === "string" && /^[0-9a-f]{64}$/.test(answer.proof) ? answer.proof : "";
  const given = Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
  if (!(await crypto.subtle.verify(algorithm, key, given, message))) {
    const hint = "stop whatever listens there and start `heirloom serve`; for a server in a container, pass prove: false";
    const what = `the server at ${access.url} is not run by this account; no token was sent`;
    throw new HeirloomError(what, "SECURITY_ERROR", undefined, hint);
  }
}

/** Reads files of this account's server folder that nobody else can read. */
async function ownFiles(): Promise<(name: string) => Promise<Buffer | undefined>> {
  const { constants, promises } = await import("node:fs");
  const { homedir } = await import("node:os");
  const { join } = await import("node:path");
  const data = process.env.XDG_DATA_HOME;
  const folder = join(data?.startsWith("/") ? data : join(homedir(), ".local/share"), "heirloom/server");
  return async (name) => {
    const path = join(folder, name);
    const file = await promises.open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((why) => {
      if (why.code === "ENOENT" || why.code === "ENOTDIR") return undefined;
      throw why;
    });
    if (file === undefined) return undefined;
    try {
      const found = await file.stat();
      if (!found.isFile() || found.uid !== process.getuid?.() || (found.mode & 0o077) !== 0) {
        const hint = `run \`chmod 600 ${path}\``;
        throw new HeirloomError(`\`${path}\` can be read by others or is not yours`, "SECURITY_ERROR", undefined, hint);
      }
      return await file.readFile();
    } finally {
      await file.close();
    }
  };
}
