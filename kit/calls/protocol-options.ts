import type { Call } from '../../kernel/call/call.ts'

type Options = Record<string, unknown>

const key = Symbol.for('protocol options')

const all = ({ trace }: Pick<Call, 'trace'>): Map<string, Options> =>
  trace.slot(key, () => new Map<string, Options>())

/**
 * The options of a call for the protocol that will carry it, beyond its request. Modules and wires write them before the call
 * is sent, and only the protocol of that id reads them. All copies of a call share them.
 */
export function protocolOptions(call: Pick<Call, 'trace'>, protocol: string): Options {
  const known = all(call)
  const options = known.get(protocol) ?? {}
  known.set(protocol, options)
  return options
}

/** All options of a call for protocols, to distinguish calls; undefined when there are none. */
export function allProtocolOptions(call: Pick<Call, 'trace'>): Readonly<Record<string, Options>> | undefined {
  const asked = [...all(call)].filter(([, options]) => Object.keys(options).length > 0)
  return asked.length > 0 ? Object.fromEntries(asked) : undefined
}
