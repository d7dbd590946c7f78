import { type Call, type Context, isGatewayError, type Message } from '#kernel'
import { summaryMessage } from '#kit'
import type { Recollection } from './memory.ts'
import { messagesOf } from './turn.ts'

/** What is brought into a call. */
export interface Brought {
  readonly messages: readonly Message[]
  /** Turns among it. */
  readonly turns: number
  readonly hasSummary: boolean
  readonly tokens: number
  /** Turns that a guard refused; the summary counts as one. */
  readonly keptOut: number
}

interface Means {
  readonly inspect: Context<unknown>['inspect']
  readonly count: (messages: readonly Message[]) => Promise<number>
}

/** Messages that are brought together or not at all. */
type Part = readonly Message[]

/** The summary and the newest turns, as the guards of the call let them pass: as many turns as `most` tokens have room for. */
export async function recalled(
  call: Call,
  { summary, turns }: Recollection,
  most: number,
  { inspect, count }: Means,
): Promise<Brought> {
  const told = summary === undefined || summary === '' ? [] : [[summaryMessage(summary)]]
  const parts = await guarded(call, [...told, ...turns.map(messagesOf)], inspect)
  const keptOut = parts.filter((part) => !part).length
  const head = parts.slice(0, told.length).filter((part) => part !== undefined)
  const said = parts.slice(told.length).filter((part) => part !== undefined)
  for (let from = 0; from <= said.length; from += 1) {
    const messages = [...head, ...said.slice(from)].flat()
    const tokens = messages.length === 0 ? 0 : await count(messages)
    if (tokens <= most)
      return { messages, turns: said.length - from, hasSummary: head.length > 0, tokens, keptOut }
  }
  return { messages: [], turns: 0, hasSummary: false, tokens: 0, keptOut }
}

/** Each part as the guards let it pass; undefined for one that a guard refuses. They are asked once, unless one refuses. */
async function guarded(
  call: Call,
  parts: readonly Part[],
  inspect: Means['inspect'],
): Promise<readonly (Part | undefined)[]> {
  const seen = async (messages: Part): Promise<Part> => {
    const texts = await inspect(
      call,
      messages.map(({ role, content }) => ({ role, text: String(content) })),
    )
    return messages.map((message, at) => ({ ...message, content: texts[at]! }))
  }
  const orRefused = async <T>(look: Promise<T>): Promise<T | undefined> => {
    try {
      return await look
    } catch (error) {
      if (isGatewayError(error)) return undefined
      throw error
    }
  }
  const all = await orRefused(seen(parts.flat()))
  if (all) {
    const rest = [...all]
    return parts.map(({ length }) => rest.splice(0, length))
  }
  const each: (Part | undefined)[] = []
  for (const part of parts) each.push(await orRefused(seen(part)))
  return each
}
