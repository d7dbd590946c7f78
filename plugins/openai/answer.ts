import { type Completion, type Target, UpstreamError, type UpstreamHead, WholeReply } from '#kernel'
import { upstreamError } from './errors.ts'
import { quirksOf } from './quirks.ts'
import { listsContent, withThoughtsApart } from './thoughts.ts'

const brace = 0x7b
const closingBrace = 0x7d
/** Some send an error under status 200; its field comes first then. */
const errorFirst = /^\s*\{\s*"error"\s*:\s*[{"]/

/** The answer in the provider's bytes. What does not even look like JSON fails at once, so that it can be retried. */
export function answerOf(wire: string, head: UpstreamHead, body: Buffer, target: Target): WholeReply {
  if (errorFirst.test(body.toString('latin1', 0, 64))) throw disguised(head, body, target)
  const reply = WholeReply.fromBytes(wire, body)
  if (quirksOf(target.provider).thoughts_in_content && listsContent(body))
    return WholeReply.of(withThoughtsApart(checked(reply, target).body))
  if (body[0] === brace && body.at(-1)! <= closingBrace) return reply
  return checked(reply, target)
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
