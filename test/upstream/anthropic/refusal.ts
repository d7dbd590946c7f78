import type { z } from 'zod'
import type { RecordedRequest } from '../record.ts'
import type { Answer, Rules } from '../wire.ts'
import { conversationError } from './conversation.ts'
import { failure } from './failure.ts'
import { type MessagesBody, messagesBody } from './schema.ts'

/** 401 for a key that is missing or not let in, 400 without the version. */
export function unauthorized(request: RecordedRequest, { keys }: Rules): Answer | undefined {
  const { headers, key } = request
  if (keys.length > 0 && headers['x-api-key'] === undefined)
    return failure(request, 401, { message: 'x-api-key header is required' })
  if (keys.length > 0 && !keys.includes(key ?? '')) return failure(request, 401)
  if (/^20\d\d-\d\d-\d\d$/.test(String(headers['anthropic-version']))) return undefined
  return failure(request, 400, { message: 'anthropic-version: header is required' })
}

/** 400 for a body that is not JSON, or, when the rules are strict, not what the endpoint takes. */
export function bodyRefusal(
  request: RecordedRequest,
  { strict }: Rules,
  schema: z.ZodType,
): Answer | undefined {
  if (typeof request.body !== 'object' || request.body === null)
    return failure(request, 400, { message: 'The request body is not valid JSON' })
  if (!strict) return undefined
  const { data, error } = schema.safeParse(request.body)
  const message = error ? issueMessage(error.issues[0]!) : conversationOf(schema, data)
  return message === undefined ? undefined : failure(request, 400, { message })
}

function conversationOf(schema: z.ZodType, body: unknown): string | undefined {
  return schema === messagesBody ? conversationError(body as MessagesBody) : undefined
}

type Issue = z.core.$ZodIssue

function issueMessage(issue: Issue): string {
  const { path, message } = deepest(issue)
  const at = [...path, ...(issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [])].join('.')
  return issue.code === 'unrecognized_keys' ? `${at}: Extra inputs are not permitted` : `${at}: ${message}`
}

/** Of the alternatives of a union, the one that came furthest says best what is wrong. */
function deepest(issue: Issue): Issue {
  if (issue.code !== 'invalid_union') return issue
  const all = issue.errors.flat().map((inner) => deepest({ ...inner, path: [...issue.path, ...inner.path] }))
  return all.toSorted((a, b) => b.path.length - a.path.length)[0] ?? issue
}
