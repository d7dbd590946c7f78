import type Koa from 'koa'
import { fitting } from '../../kit/json/fitting.ts'
import { Answer, type AnswerForm } from '../contract/answers.ts'
import type { Log } from '../log.ts'
import type { LiveRoute, ServerEvent } from '../route.ts'
import { sendEvents } from './server-events.ts'

/** The result of a handler, and the request that it is for. */
interface Handled {
  readonly result: unknown
  /** Of the request. */
  readonly body: unknown
  /** Aborts when the client leaves. */
  readonly left: AbortSignal
  readonly log: Log
}

/** Answers with what a route's handler returned, in the form that the route promises. Throws when it is of another form. */
export async function sendAnswer(
  ctx: Koa.Context,
  route: LiveRoute,
  { result, body, left, log }: Handled,
): Promise<void> {
  const { status, form, value } = chosen(route, result)
  ctx.status = status
  if (form === 'events' || ('json' in Object(form) && asksForEvents(body))) {
    demand(Symbol.asyncIterator in Object(value), route, 'events, an async iterable')
    sendEvents(ctx, value as AsyncIterable<ServerEvent>, left)
  } else if (typeof form === 'object' && 'send' in form) {
    await form.send(ctx, value)
  } else if (form === 'text') {
    demand(typeof value === 'string', route, 'a text')
    // Koa takes what begins like HTML for HTML.
    if (!ctx.response.get('content-type')) ctx.type = 'text'
    ctx.body = value
  } else {
    const leftOut = (err: Error): void =>
      log.error({ err }, 'rows that do not fit their schema were left out of a listing')
    ctx.body = asJson(ctx, fitting('json' in form ? form.json : form, value, leftOut))
  }
}

interface Chosen {
  readonly status: number
  readonly form: AnswerForm<unknown>
  readonly value: unknown
}

function chosen(route: LiveRoute, result: unknown): Chosen {
  const { returns, status = 200 } = route
  if (typeof returns === 'string' || !('statuses' in returns)) return { status, form: returns, value: result }
  const form = result instanceof Answer ? returns.statuses[result.status] : undefined
  demand(form !== undefined, route, `answer(status, value) with a status of ${Object.keys(returns.statuses)}`)
  return { ...(result as Answer<number, unknown>), form: form! }
}

const asksForEvents = (body: unknown): boolean => Object(body).stream === true

function demand(holds: boolean, { method, path }: LiveRoute, what: string): void {
  if (!holds) throw new Error(`The route ${method} ${path} must answer with ${what}.`)
}

/**
 * A value as it is sent. A value that cannot be written fails here, where it is still an error of the request's. Koa is given
 * a text, since looking at an object makes it load Node's fetch.
 */
export function asJson(ctx: Koa.Context, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  ctx.type = 'json'
  return JSON.stringify(value)
}
