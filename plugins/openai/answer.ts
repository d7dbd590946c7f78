import { type Completion, type Target, UpstreamError, type UpstreamHead, WholeReply } from '#kernel'
import { mapped, withSoundCalls } from './calls.ts'
import { upstreamError } from './errors.ts'
import { type Quirks, quirksOf } from './quirks.ts'
import { listsContent, withThoughtsApart } from './thoughts.ts'
import { canonicalUsage } from './usage.ts'

const brace = 0x7b
const closingBrace = 0x7d
/** Some send an error under status 200; its field comes first then. */
const errorFirst = /^\s*\{\s*"error"\s*:\s*[{"]/

/**
 * The answer in the provider's bytes, unless what they say must be said otherwise to be understood. What is not JSON fails
 * at once, so that it can be retried.
 */
export function answerOf(wire: string, head: UpstreamHead, body: Buffer, target: Target): WholeReply {
  if (errorFirst.test(body.toString('latin1', 0, 64))) throw disguised(head, body, target)
  const reply = WholeReply.fromBytes(wire, body)
  if (wire === 'embeddings' && body[0] === brace && body.at(-1)! <= closingBrace) return reply
  const given = checked(reply, target).body
  const quirks = quirksOf(target.provider)
  const apart = quirks.thoughts_in_content && listsContent(body) ? withThoughtsApart(given) : given
  const understood = understoodOf(apart, quirks)
  return understood === given ? reply : WholeReply.of(understood)
}

/** What an answer says, as all clients understand it; the same object where they do. */
function understoodOf(body: Completion, quirks: Quirks): Completion {
  const choices = Array.isArray(body.choices) ? mapped(body.choices, withSoundCalls) : body.choices
  const usage = body.usage && canonicalUsage(body.usage, quirks)
  if (choices === body.choices && usage === body.usage) return body
  return { ...body, ...(choices && { choices }), ...(usage && { usage }) }
}

function checked(reply: WholeReply, { provider, model }: Target): WholeReply {
  try {
    const body: Completion = reply.body
    if (typeof body === 'object' && body !== null) return reply
  } catch {
    // Not JSON: the same failure as JSON that is no object.
  }
  const message = `The provider ${provider.name} answered with something that is not JSON.`
  const about = { provider: provider.name, model, fault: 'protocol', retryable: true } as const
  throw new UpstreamError('provider_error', message, about)
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
