import type { Call } from './call.ts'

type Options = Record<string, unknown>

const key = Symbol.for('protocol options')

const all = ({ trace }: Pick<Call, 'trace'>): Map<string, Options> =>
  trace.slot(key, () => new Map<string, Options>())

/**
 * What a call asks of the protocol that will carry it, beyond what its request can say. Modules and wires write it before the
 * call is sent, the protocol of that id reads it, and no other one does. All copies of a call share it.
 */
export function protocolOptions(call: Pick<Call, 'trace'>, protocol: string): Options {
  const known = all(call)
  const options = known.get(protocol) ?? {}
  known.set(protocol, options)
  return options
}

/** Everything that a call asks of protocols, to tell calls apart; undefined when it asks nothing. */
export function allProtocolOptions(call: Pick<Call, 'trace'>): Readonly<Record<string, Options>> | undefined {
  const asked = [...all(call)].filter(([, options]) => Object.keys(options).length > 0)
  return asked.length > 0 ? Object.fromEntries(asked) : undefined
}
