/**
 * The client: fetch, and the types that `openapi-typescript` makes from the server's description.
 *
 * It follows no redirects. Before it sends a token to a server on this machine, that server proves that it is run by this account.
 */
import { findAccess, type Access, prove } from "./access.js";
import type { operations } from "./api.js";

export type { components, operations, paths } from "./api.js";

type Operation = keyof operations;
type Json<T> = T extends { content: { "application/json": infer Body } } ? Body : never;
type Responses<Name extends Operation> = operations[Name]["responses"];
/** What an operation answers when it is done. */
export type Answer<Name extends Operation> = Json<Responses<Name>[keyof Responses<Name> & (200 | 201)]>;
/** What an operation answers when a person has to decide first; nothing was changed. */
export type Waiting<Name extends Operation> = Json<Responses<Name>[keyof Responses<Name> & 202]>;
/** What an operation takes. */
export type Body<Name extends Operation> = Json<NonNullable<operations[Name]["requestBody"]>>;
type Query<Name extends Operation> = NonNullable<operations[Name]["parameters"]["query"]>;
/** What became of a write, and the version of what is stored now. */
export type Written<Name extends Operation> = (Answer<Name> | Waiting<Name>) & { version?: string };
export type Memory = Answer<"get_memory">;
export type Message = Body<"append_to_session">["messages"][number];

export interface Options {
  /** `http://127.0.0.1:7411` unless said. */
  url?: string;
  /** Else HEIRLOOM_TOKEN, else the token file of the server on this machine. */
  token?: string;
  /** An id of `GET /v1/projects`, where the server serves several. */
  project?: string;
  /** False also speaks to a server on this machine that another account or a container runs. */
  prove?: boolean;
  /** Milliseconds until a request is given up; 30,000 unless said. */
  timeout?: number;
}

/** A request failed: `code` is stable, `hint` is the next step. */
export class HeirloomError extends Error {
  constructor(
    message: string,
    readonly code: string,
    readonly status?: number,
    readonly hint = "",
    readonly retryAfter?: number,
  ) {
    super(`${message} [${code}]`);
    this.name = "HeirloomError";
  }
}

interface Request {
  body?: unknown;
  query?: Record<string, unknown>;
  headers?: Record<string, string>;
}

const PAGE = 100;
/** A server that answered within this time is still the one that proved itself. */
const PROVEN_MS = 5_000;

const part = encodeURIComponent;

export class Heirloom {
  readonly items = new Items(this);
  #access?: Promise<Access>;
  #proven = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: Options = {}) {}

  /** Saves a memory. With an idempotency key, the same call within a day runs once. */
  add(memory: Body<"add_memory">, idempotencyKey?: string): Promise<Written<"add_memory">> {
    const headers = idempotencyKey === undefined ? undefined : { "Idempotency-Key": idempotencyKey };
    return this.#written("POST", "/v1/memories", { body: memory, headers });
  }

  /** A memory by its whole id. */
  get(id: string): Promise<Memory> {
    return this.request("GET", `/v1/memories/${part(id)}`);
  }

  /** Changes a memory; `version` is the one that was read. */
  update(id: string, version: string, change: Body<"update_memory">): Promise<Written<"update_memory">> {
    const headers = { "If-Match": `"${version}"` };
    return this.#written("PATCH", `/v1/memories/${part(id)}`, { body: change, headers });
  }

  /** Takes a memory out of use; `restore` puts it back. */
  retire(id: string, reason?: string): Promise<Written<"retire_memory">> {
    return this.#written("POST", `/v1/memories/${part(id)}/retire`, { body: { reason } });
  }

  restore(id: string, reason?: string): Promise<Written<"restore_memory">> {
    return this.#written("POST", `/v1/memories/${part(id)}/restore`, { body: { reason } });
  }

  /** Removes every trace of a memory, for good. Needs the scope `delete`. */
  forget(id: string): Promise<Answer<"forget_memory">> {
    return this.request("DELETE", `/v1/memories/${part(id)}`);
  }

  /** One page of memories; `list` goes through all of them. */
  page(query: Query<"list_memories"> = {}): Promise<Answer<"list_memories">> {
    return this.request("GET", "/v1/memories", { query: { limit: PAGE, ...query } });
  }

  async *list(filters: Query<"list_memories"> = {}): AsyncGenerator<Answer<"list_memories">["memories"][number]> {
    let cursor = filters.cursor;
    do {
      const page = await this.page({ ...filters, cursor });
      yield* page.memories;
      cursor = page.next;
    } while (cursor !== undefined);
  }

  /** Memories that fit the words, best first. */
  search(query: string, options: Omit<Body<"search">, "query"> = {}): Promise<Answer<"search">> {
    return this.request("POST", "/v1/search", { body: { query, ...options } });
  }

  /** What an agent should know for this prompt, as a labelled block. */
  recall(prompt: string, options: Omit<Body<"recall">, "prompt"> = {}): Promise<Answer<"recall">> {
    return this.request("POST", "/v1/recall", { body: { prompt, ...options } });
  }

  /** Working memory of a running conversation. */
  session(name: string): Session {
    return new Session(this, name);
  }

  /** A command of Anthropic's memory tool; the text for the model. */
  async memoryTool(command: Body<"memory_tool">): Promise<string> {
    const told = await this.request<Answer<"memory_tool">>("POST", "/v1/memory-tool", { body: command });
    return [told.text, ...(told.notes ?? [])].join("\n");
  }

  /** Any path of the server. */
  async request<T>(method: string, path: string, request: Request = {}): Promise<T> {
    const { body, waits } = await this.#send(method, path, request);
    if (waits) {
      const hint = "a person decides with `heirloom review`";
      throw new HeirloomError("this waits for a person; nothing was changed", "NEEDS_CONFIRMATION", 202, hint);
    }
    return body as T;
  }

  async #written<T>(method: string, path: string, request: Request): Promise<T> {
    const { body, version } = await this.#send(method, path, request);
    return { ...(body as object), version } as T;
  }

  async #send(method: string, path: string, request: Request): Promise<{ body: unknown; version?: string; waits: boolean }> {
    const access = await (this.#access ??= findAccess(this.options));
    if (access.key !== undefined && Date.now() - this.#proven > PROVEN_MS) {
      await prove(access, (url) => this.#fetch(url, { method: "GET" }));
    }
    const url = new URL(access.url + path);
    for (const [name, value] of Object.entries({ ...request.query, project: this.options.project })) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const headers: Record<string, string> = { Authorization: `Bearer ${access.token}`, ...request.headers };
    if (request.body !== undefined) headers["Content-Type"] = "application/json";
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    const response = await this.#fetch(url, { method, headers, body });
    this.#proven = Date.now();
    const answer: any = await response.json().catch(() => undefined);
    if (!response.ok) {
      const message = answer?.detail ?? `the server answered with status ${response.status}`;
      const retry = Number(response.headers.get("retry-after") ?? Number.NaN);
      const code = answer?.code ?? `HTTP_${response.status}`;
      throw new HeirloomError(message, code, response.status, answer?.next, Number.isNaN(retry) ? undefined : retry);
    }
    return { body: answer, waits: response.status === 202, version: response.headers.get("etag")?.replaceAll('"', "") };
  }

  async #fetch(url: URL, init: RequestInit): Promise<Response> {
    try {
      const signal = AbortSignal.timeout(this.options.timeout ?? 30_000);
      return await fetch(url, { ...init, redirect: "error", signal });
    } catch (why) {
      this.#proven = Number.NEGATIVE_INFINITY;
      const hint = "start it with `heirloom serve`, or give the client its address";
      throw new HeirloomError(`the server at ${url.origin} cannot be reached: ${why}`, "UNREACHABLE", undefined, hint);
    }
  }
}

/** Working memory of one conversation: in the server's process, gone when that ends. */
export class Session {
  constructor(
    private readonly client: Heirloom,
    readonly name: string,
  ) {}

  append(...messages: Message[]): Promise<Answer<"append_to_session">> {
    return this.client.request("POST", this.#path("messages"), { body: { messages } });
  }

  read(): Promise<Answer<"read_session">> {
    return this.client.request("GET", this.#path("messages"));
  }

  async pop(): Promise<Answer<"pop_from_session">["message"]> {
    return (await this.client.request<Answer<"pop_from_session">>("POST", this.#path("pop"))).message;
  }

  clear(): Promise<Answer<"clear_session">> {
    return this.client.request("DELETE", this.#path("messages"));
  }

  #path(what: string): string {
    return `/v1/sessions/${part(this.name)}/${what}`;
  }
}

/** JSON values under namespaces and keys, the token's user's own. */
export class Items {
  constructor(private readonly client: Heirloom) {}

  put(item: Body<"put_item">): Promise<Answer<"put_item">> {
    return this.client.request("PUT", "/v1/items", { body: item });
  }

  get(namespace: string[], key: string): Promise<Answer<"get_item">> {
    return this.client.request("POST", "/v1/items/get", { body: { namespace, key } });
  }

  delete(namespace: string[], key: string): Promise<Answer<"delete_item">> {
    return this.client.request("POST", "/v1/items/delete", { body: { namespace, key } });
  }

  search(asked: Body<"search_items">): Promise<Answer<"search_items">> {
    return this.client.request("POST", "/v1/items/search", { body: asked });
  }

  namespaces(asked: Body<"list_namespaces">): Promise<Answer<"list_namespaces">> {
    return this.client.request("POST", "/v1/items/namespaces", { body: asked });
  }
}
