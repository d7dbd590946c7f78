import {
  type Choice,
  type Completion,
  type Target,
  type UpstreamError,
  type UpstreamHead,
  WholeReply,
} from '#kernel'
import { protocolError } from '#provider'
import { mapped, withSoundCalls } from './calls.ts'
import { withKnownEnd } from './ends.ts'
import { upstreamError } from './errors.ts'
import { type Quirks, quirksOf } from './quirks.ts'
import { listsContent, withThoughtsApart } from './thoughts.ts'
import { canonicalUsage } from './usage.ts'

/** Some send an error under status 200; its field comes first then. */
const errorFirst = /^\s*\{\s*"error"\s*:\s*[{"]/

/** The answer in the provider's bytes, unless what they say must be said otherwise to be understood. */
export function answerOf(wire: string, head: UpstreamHead, body: Buffer, target: Target): WholeReply {
  if (errorFirst.test(body.toString('latin1', 0, 64))) throw disguised(head, body, target)
  const reply = WholeReply.fromBytes(wire, body)
  if (wire === 'embeddings') return reply
  const given = bodyOf(reply, target)
  const quirks = quirksOf(target.provider)
  const apart = quirks.thoughts_in_content && listsContent(body) ? withThoughtsApart(given) : given
  const understood = understoodOf(apart, quirks)
  return understood === given ? reply : WholeReply.of(understood)
}

/** An answer in the form that all clients understand; the same object where it has that form. */
function understoodOf(body: Completion, quirks: Quirks): Completion {
  const sound = (choice: Choice): Choice => withSoundCalls(withKnownEnd(choice, quirks))
  const choices = Array.isArray(body.choices) ? mapped(body.choices, sound) : body.choices
  const usage = body.usage && canonicalUsage(body.usage, quirks)
  if (choices === body.choices && usage === body.usage) return body
  return { ...body, ...(choices && { choices }), ...(usage && { usage }) }
}

function bodyOf(reply: WholeReply, target: Target): Completion {
  try {
    if (typeof reply.body === 'object' && reply.body !== null) return reply.body
  } catch {
    // Not JSON, or half of it: the same failure as JSON that is no object.
  }
  throw protocolError(target, 'answered with something that is not a JSON object', { retryable: true })
}

/** An error under a good status, as the error it is. */
function disguised(head: UpstreamHead, body: Buffer, target: Target): UpstreamError {
  return upstreamError({ ...head, status: statusIn(body) ?? 502 }, body, target)
}

function statusIn(body: Buffer): number | undefined {
  try {
    return statusOf((JSON.parse(body.toString('utf8')) as { error?: { code?: unknown } }).error?.code)
  } catch {
    return undefined
  }
}

/** An error's code, if it is the HTTP status that the answer should have had. */
export const statusOf = (code: unknown): number | undefined =>
  typeof code === 'number' && Number.isInteger(code) && code >= 400 && code < 600 ? code : undefined

/** The names in a list of models: OpenAI's `data`, or the bare list that some send. */
export function modelsIn(body: Buffer): string[] | undefined {
  const parsed = JSON.parse(body.toString('utf8')) as { data?: unknown } | unknown[] | null
  const list = Array.isArray(parsed) ? parsed : parsed?.data
  if (!Array.isArray(list)) return undefined
  return list.flatMap((entry: { id?: unknown } | null) => (typeof entry?.id === 'string' ? [entry.id] : []))
}
