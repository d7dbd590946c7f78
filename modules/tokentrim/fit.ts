import type { Message } from '#kernel'
import { roughTokens } from '#kit'
import { cutLongest } from './cut.ts'
import type { Unit } from './units.ts'

export interface Room {
  /** Tokens that the whole request takes with these messages; the same array is counted once. */
  count(messages: readonly Message[]): Promise<number>
  /** How many it may take. */
  readonly most: number
}

export interface Fitted {
  readonly messages: readonly Message[]
  /** Positions of the messages that are left out. */
  readonly dropped: ReadonlySet<number>
}

/**
 * Leaves out units in their order until the rest fits; `step` of them at a time, so that the next turns of a conversation lose the
 * same ones. Undefined when all of them together are not enough.
 */
export async function dropUntilFits(
  messages: readonly Message[],
  order: readonly Unit[],
  { count, most }: Room,
  step: number,
): Promise<Fitted | undefined> {
  const dropped = new Set<number>()
  let left = messages
  let next = 0
  for (let used = await count(left); used > most; used = await count(left)) {
    if (next >= order.length) return undefined
    const perRough = used / Math.max(1, roughTokens({ messages: left }))
    let over = used - most
    do {
      const unit = order[next]!
      over -= perRough * roughTokens({ messages: unit.map((at) => messages[at]!) })
      for (const at of unit) dropped.add(at)
      next += 1
    } while (next < order.length && (over > 0 || next % step !== 0))
    left = messages.filter((_, at) => !dropped.has(at))
  }
  return { messages: left, dropped }
}

/** Cuts long texts in their middle until the rest fits. Undefined when no text is long enough for that. */
export async function cutUntilFits(
  messages: readonly Message[],
  { count, most }: Room,
  isPinned: (message: Message) => boolean,
): Promise<readonly Message[] | undefined> {
  let left = messages
  for (let used = await count(left); used > most; used = await count(left)) {
    const characters = JSON.stringify(left).length
    const cut = cutLongest(left, Math.ceil(((used - most) / used) * characters) + 100, isPinned)
    if (!cut) return undefined
    left = cut
  }
  return left
}
