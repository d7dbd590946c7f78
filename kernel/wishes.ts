import type { Call } from './call.ts'

/**
 * What a call asks of the protocol that will carry it, beyond what its request can say: written by modules before it
 * is sent, read by the protocol of that id, and without meaning to any other. The same for all copies of a call.
 */
export const wishesOf = ({ trail }: Call, protocol: string): Record<string, unknown> =>
  trail.slot<Record<string, unknown>>(Symbol.for(`wishes/${protocol}`), () => ({}))
