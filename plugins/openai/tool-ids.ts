import { hash } from 'node:crypto'
import type { Message } from '#kernel'

/** The ids of tool calls that a provider takes. */
export interface IdForm {
  /** So many characters. */
  readonly length: number
  /** Exactly so many, and letters and digits only. */
  readonly exact: boolean
}

/**
 * Gives each tool call of a conversation an id that the provider takes: the same at the call and at its result, the
 * same at every turn, and different for different calls. Undefined when all ids are so already. The provider's own new
 * ids need no way back: they fit.
 */
export function toolIdsOf(
  messages: readonly Message[],
  { length, exact }: IdForm,
): ((message: Message) => Message) | undefined {
  if (!messages.some(hasIds)) return undefined
  const alphabet = new RegExp(`^[A-Za-z0-9]{${length}}$`)
  const fits = (id: string): boolean => (exact ? alphabet.test(id) : id.length <= length)
  const ids = new Set(messages.flatMap(idsOf))
  const taken = new Set([...ids].filter(fits))
  if (taken.size === ids.size) return undefined
  const names = new Map([...taken].map((id) => [id, id]))
  for (const id of ids) if (!names.has(id)) names.set(id, unused(id, length, taken))
  return (message) => withIds(message, names)
}

const hasIds = ({ tool_calls, tool_call_id }: Message): boolean =>
  tool_call_id !== undefined || (tool_calls?.length ?? 0) > 0

function idsOf({ tool_calls, tool_call_id }: Message): string[] {
  return [...(tool_calls ?? []).map(({ id }) => id), ...(tool_call_id === undefined ? [] : [tool_call_id])]
}

/** A digest of the id; of the id and a number where another id has that digest already. */
function unused(id: string, length: number, taken: Set<string>): string {
  for (let n = 0; ; n += 1) {
    const digest = hash('sha256', n === 0 ? id : `${id} ${n}`).slice(0, length)
    if (taken.has(digest)) continue
    taken.add(digest)
    return digest
  }
}

function withIds(message: Message, names: ReadonlyMap<string, string>): Message {
  const { tool_calls, tool_call_id } = message
  if (!tool_calls && tool_call_id === undefined) return message
  return {
    ...message,
    ...(tool_calls && {
      tool_calls: tool_calls.map((call) => ({ ...call, id: names.get(call.id) ?? call.id })),
    }),
    ...(tool_call_id !== undefined && { tool_call_id: names.get(tool_call_id) ?? tool_call_id }),
  }
}
