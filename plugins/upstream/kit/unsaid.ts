import { badRequest, type Call } from '#kernel'
import { protocolOptions } from '#kit'
import type { Changes } from './changes.ts'

/** The fields that a wire keeps beside a request for the protocol of the same name. */
interface Said {
  /** Fields that the canonical form has no place for. */
  readonly lost?: readonly string[]
  /** Fields without which the request would be another. */
  readonly needed?: readonly string[]
}

/**
 * Reports the client's fields that only the protocol of its own wire can carry; refuses a request whose meaning would change
 * without them. For protocols that translate the canonical form and nothing else.
 */
export function reportUnsaid(call: Call, changes: Changes): void {
  const { lost = [], needed = [] } = (protocolOptions(call, call.wire).said ?? {}) as Said
  const [param] = needed
  if (param !== undefined)
    throw badRequest(
      `${param}: this provider has nothing like it, and the request would be another without.`,
      {
        param,
      },
    )
  for (const field of lost) changes.add(`-${field}`)
}
