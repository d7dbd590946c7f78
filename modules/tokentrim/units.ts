import type { Message } from '#kernel'

/** Positions of messages that stay or go together. */
export type Unit = readonly number[]

export interface Units {
  /** In the order of their first messages. A tool call is one unit with its results. */
  readonly units: readonly Unit[]
  /** Results to which the conversation has no call. */
  readonly orphans: Unit
}

/**
 * Takes a conversation apart into what can be left out without parting a tool call from its results. A result belongs to the
 * nearest call before it that has its id, or its name in the older form; calls of one message belong together.
 */
export function unitsOf(messages: readonly Message[]): Units {
  const units: number[][] = []
  const orphans: number[] = []
  const open = new Map<string, number[]>()
  for (const [at, message] of messages.entries()) {
    const answered = answeredBy(message)
    const unit = answered === undefined ? undefined : open.get(answered)
    if (unit) unit.push(at)
    else if (answered !== undefined) orphans.push(at)
    else {
      const own = [at]
      units.push(own)
      for (const id of callsOf(message)) open.set(id, own)
    }
  }
  return { units, orphans }
}

/** What the message calls, by the names under which results answer. */
function callsOf({ tool_calls, function_call }: Message): string[] {
  const named = (function_call as { readonly name?: string } | null | undefined)?.name
  return [
    ...(tool_calls ?? []).map(({ id }) => `id ${id}`),
    ...(named === undefined ? [] : [`name ${named}`]),
  ]
}

function answeredBy({ role, tool_call_id, name }: Message): string | undefined {
  if (role === 'tool') return `id ${tool_call_id}`
  return role === 'function' ? `name ${name}` : undefined
}
