import type { Plugin } from "@opencode-ai/plugin"

const program = "HEIRLOOM"

type Answer = { context?: string; deny?: string; undo?: string; hold?: string; suggest?: string }

// One short process per event. Whatever goes wrong, OpenCode goes on as if this plugin were not there.
async function ask(moment: string, input: Record<string, unknown>): Promise<Answer> {
  try {
    const child = Bun.spawn([program, "hook", moment, "--agent", "opencode", "--installed"], {
      stdin: new Blob([JSON.stringify(input)]),
      stdout: "pipe",
      stderr: "ignore",
      timeout: 10_000,
    })
    const text = await new Response(child.stdout).text()
    await child.exited
    return text.trim() === "" ? {} : (JSON.parse(text) as Answer)
  } catch {
    return {}
  }
}

function said(parts: ReadonlyArray<any>): string {
  return parts
    .filter((part) => part.type === "text" && !part.synthetic && typeof part.text === "string")
    .map((part) => part.text)
    .join("\n")
}

// Words on the command line with which nobody watches the session.
const unattended = ["run", "serve", "acp", "github", "pr", "generate"]
const first = process.argv.slice(2).find((word) => !word.startsWith("-"))
const attended = first === undefined || !unattended.includes(first)

export const Heirloom: Plugin = async ({ client, directory }) => {
  const held = new Set<string>()
  const asked = new Map<string, string>()
  const started = new Set<string>()
  const base = (event: string, session: string) => ({
    hook_event_name: event,
    session_id: session,
    cwd: directory,
    attended,
  })

  return {
    "chat.message": async (input, output) => {
      const session = input.sessionID
      const prompt = said(output.parts)
      const blocks: string[] = []
      if (!started.has(session)) {
        started.add(session)
        const start = await ask("session-start", { ...base("session.created", session), source: "startup" })
        if (start.context) blocks.push(start.context)
      }
      asked.set(session, prompt)
      const answer = await ask("prompt", { ...base("chat.message", session), prompt })
      if (answer.context) blocks.push(answer.context)
      const first = output.parts.find((part: any) => part.type === "text") as any
      if (blocks.length > 0 && first) first.text = `${first.text}\n\n${blocks.join("\n")}`
    },

    "tool.execute.before": async (input, output) => {
      const answer = await ask("pre-write", {
        ...base("tool.execute.before", input.sessionID),
        tool_name: input.tool,
        tool_input: output.args,
      })
      if (answer.deny) throw new Error(answer.deny)
    },

    "tool.execute.after": async (input, output) => {
      const answer = await ask("post-write", {
        ...base("tool.execute.after", input.sessionID),
        tool_name: input.tool,
        tool_input: (input as any).args ?? output.metadata ?? {},
      })
      if (answer.undo) output.output = `${output.output}\n\n${answer.undo}`
    },

    event: async ({ event }) => {
      // The model has lost what it was given; only a compaction that happened counts.
      if (event.type === "session.compacted") {
        const compacted = event.properties.sessionID
        await ask("pre-compact", base("session.compacted", compacted))
        return
      }
      if (event.type !== "session.idle") return
      const session = event.properties.sessionID
      // The session of a subagent has a parent, and its end is nobody's stop.
      const found = await client.session.get({ path: { id: session } }).catch(() => undefined)
      if (found?.data?.parentID) return
      const messages = await client.session.messages({ path: { id: session } }).catch(() => undefined)
      const last = messages?.data?.filter((message: any) => message.info.role === "assistant").at(-1)
      const answer = await ask("stop", {
        ...base("session.idle", session),
        prompt: asked.get(session),
        last_assistant_message: last ? said(last.parts) : undefined,
        conversation: (messages?.data ?? []).slice(-60).map((message: any) => ({
          role: message.info.role,
          text: said(message.parts),
          at: message.info.time?.created ? new Date(message.info.time.created).toISOString() : undefined,
        })),
        stop_hook_active: held.delete(session),
      })
      if (answer.hold) {
        held.add(session)
        const parts = [{ type: "text" as const, text: answer.hold }]
        await client.session.prompt({ path: { id: session }, body: { parts } }).catch(() => undefined)
      } else if (answer.suggest) {
        await client.tui
          .showToast({ body: { message: "There is something worth saving as a memory.", variant: "info" } })
          .catch(() => undefined)
      }
    },
  }
}
