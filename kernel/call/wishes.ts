import type { Call } from './call.ts'

type Wishes = Record<string, unknown>

const key = Symbol.for('wishes')

const all = ({ trace }: Pick<Call, 'trace'>): Map<string, Wishes> =>
  trace.slot(key, () => new Map<string, Wishes>())

/**
 * What a call asks of the protocol that will carry it, beyond what its request can say: written by modules and wires before it
 * is sent, read by the protocol of that id, and without meaning to any other. The same for all copies of a call.
 */
export function wishesOf(call: Pick<Call, 'trace'>, protocol: string): Wishes {
  const known = all(call)
  const wishes = known.get(protocol) ?? {}
  known.set(protocol, wishes)
  return wishes
}

/** Everything that a call asks of protocols, for who tells calls apart; undefined when it asks nothing. */
export function wishesIn(call: Pick<Call, 'trace'>): Readonly<Record<string, Wishes>> | undefined {
  const asked = [...all(call)].filter(([, wishes]) => Object.keys(wishes).length > 0)
  return asked.length > 0 ? Object.fromEntries(asked) : undefined
}
