import { hash } from 'node:crypto'
import type { Call } from '#kernel'
import { circleOf } from '#kit'

/** Whether the keys of a user go on with each other's sessions. */
export type Share = 'key' | 'user'

/** A session of a caller. */
export interface Session {
  /** The same for all calls of the session; callers who do not share it have other ids for the same name. It tells neither. */
  readonly id: string
  /** As the client calls it. */
  readonly name: string
  /** The user, or the key that belongs to none: whose memory it counts against. */
  readonly owner: string
}

/**
 * The session that a client names with `X-Session-Id`. Users, tenants and projects never share one, nor do keys unless `share` says
 * so. Undefined for calls that name none, that are no chats, and that a feature of the gateway makes: it keeps a history of its own.
 */
export function sessionOf(call: Call, share: Share): Session | undefined {
  const { sessionId: name, project, source } = call.context
  if (name === undefined || source !== 'proxy' || call.operation !== 'chat') return undefined
  const { userId, keyId } = call.principal
  const parts = [circleOf(call, 'user'), share === 'key' ? keyId : null, project, name]
  const id = hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 22)
  return { id: `mem_${id}`, name: name.slice(0, longestName), owner: userId ?? keyId }
}

/** Characters of a name that are kept to be shown. */
const longestName = 256
