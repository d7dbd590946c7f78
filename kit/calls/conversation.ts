import { hash } from 'node:crypto'
import type { Call } from '../../kernel/call/call.ts'
import { circleOf } from '../answers/answer-key.ts'
import { orderedJson } from '../json/ordered-json.ts'

/** The conversation that a call belongs to. */
export interface Conversation {
  /** The same for all its calls, and different for different callers. It reveals nothing of its texts. */
  readonly id: string
  readonly from: 'header' | 'derived'
}

/**
 * The conversation of a call: what `X-Session-Id` names, else the one that begins as this one does, with the same instructions and
 * the same first message of the user, in the same project. It stays the same while its history grows. Conversations of one caller
 * that begin alike cannot be told apart without the header. Undefined for a call without messages and without the header.
 */
export function conversationOf(call: Call): Conversation | undefined {
  const { sessionId, project } = call.context
  const owner = circleOf(call, 'user')
  if (sessionId !== undefined) return { id: idOf([owner, sessionId]), from: 'header' }
  const { messages = [], user = null } = call.request
  const first = messages.findIndex(({ role }) => role === 'user')
  if (first === -1) return undefined
  const beginning = messages.slice(0, first + 1).map(({ role, content = null }) => [role, content])
  return { id: idOf([owner, project, user, beginning]), from: 'derived' }
}

const idOf = (parts: readonly unknown[]): string =>
  hash('sha256', orderedJson(parts), 'base64url').slice(0, 22)
