import { z } from 'zod'
import type { RecordedRequest } from '../record.ts'
import type { ScriptedError } from '../script.ts'
import type { Answer, Rules } from '../wire.ts'
import { conversationError } from './conversation.ts'
import { failure } from './failure.ts'

const NAMED = z.object({ model: z.string() })

/** 401 for a key that is missing or not let in; a wrong one is quoted with its middle masked, as the service does. */
export function unauthorized(request: RecordedRequest, { keys }: Rules): Answer | undefined {
  if (keys.length === 0) return undefined
  const { key } = request
  if (key === undefined || request.headers.authorization === undefined) {
    const message =
      "You didn't provide an API key. You need to provide it in an Authorization header using Bearer auth."
    return failure(request, 401, { message, code: null })
  }
  if (keys.includes(key)) return undefined
  const masked = key.length < 8 ? '***' : `${key.slice(0, 4)}***${key.slice(-4)}`
  const hint = 'You can find your API key at https://platform.openai.com/account/api-keys.'
  return failure(request, 401, { message: `Incorrect API key provided: ${masked}. ${hint}` })
}

/** 400 for a body that is not JSON, or, when the rules are strict, not what the endpoint takes. */
export function bodyRefusal(request: RecordedRequest, rules: Rules, schema: z.ZodType): Answer | undefined {
  if (typeof request.body !== 'object' || request.body === null) {
    const message =
      "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly.)"
    return failure(request, 400, { message })
  }
  if (!rules.strict) return undefined
  const { error } = schema.safeParse(request.body)
  const issue = error?.issues[0]
  const found = issue ? describe(deepest(issue), request.body) : conversationError(request.body)
  return found && failure(request, 400, found)
}

/** 404 for a model that the rules do not list. */
export function unknownModel(request: RecordedRequest, { models }: Rules): Answer | undefined {
  const { model } = NAMED.safeParse(request.body).data ?? {}
  if (!models || (model !== undefined && models.includes(model))) return undefined
  const message = `The model \`${model}\` does not exist or you do not have access to it.`
  return failure(request, 404, { message })
}

type Issue = z.core.$ZodIssue

/** Of the alternatives of a union, the one that came furthest says best what is wrong. */
function deepest(issue: Issue): Issue {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return issue
  const nested = issue.errors
    .flatMap((issues) => issues.slice(0, 1))
    .map((inner) => deepest({ ...inner, path: [...issue.path, ...inner.path] }))
  return nested.reduce((best, next) => (next.path.length > best.path.length ? next : best))
}

function describe(issue: Issue, body: object): ScriptedError {
  const param = paramOf(issue.path)
  switch (issue.code) {
    case 'unrecognized_keys': {
      const unknown = paramOf([...issue.path, ...issue.keys.slice(0, 1)])
      return { message: `Unknown parameter: '${unknown}'.`, param: unknown, code: 'unknown_parameter' }
    }
    case 'invalid_type':
      if (valueAt(body, issue.path) !== undefined) {
        const message = `Invalid type for '${param}': expected ${issue.expected}, but got ${typeof valueAt(body, issue.path)} instead.`
        return { message, param, code: 'invalid_type' }
      }
      return { message: `Missing required parameter: '${param}'.`, param, code: 'missing_required_parameter' }
    case 'invalid_union':
    case 'invalid_value':
      if (valueAt(body, issue.path) === undefined)
        return {
          message: `Missing required parameter: '${param}'.`,
          param,
          code: 'missing_required_parameter',
        }
      return { message: `Invalid value for '${param}': ${issue.message}.`, param, code: 'invalid_value' }
    default:
      return { message: `Invalid '${param}': ${issue.message}.`, param, code: 'invalid_value' }
  }
}

function valueAt(body: object, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    body,
  )
}

function paramOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    return text === '' ? String(key) : `${text}.${String(key)}`
  }, '')
}
