import { z } from 'zod'
import type { Context, PostAnswer } from '#kernel'
import { signedHeaders } from './signing.ts'

const answerMs = 15_000
const gone = 410
const longestError = 300
const longestRetryAfterMs = 3_600_000

export const taskSchema = z.object({ delivery: z.string(), webhook: z.string() })
export type Task = z.infer<typeof taskSchema>

/** Why an attempt failed, in a form that jobs understand. */
export class DeliveryFailed extends Error {
  readonly retryable: boolean
  readonly retryAfterS: number | undefined
  /** The address, when it says that it is gone for good. */
  readonly gone: string | undefined

  constructor(message: string, { retryAfterS, gone }: { retryAfterS?: number | undefined; gone?: string }) {
    super(message.slice(0, longestError))
    this.name = 'DeliveryFailed'
    this.retryable = gone === undefined
    this.retryAfterS = retryAfterS
    this.gone = gone
  }

  /** The pause before the next attempt, which is this one or what the receiver asks for, by an hour at the most. */
  pauseMs(leastMs: number): number {
    return Math.max(leastMs, Math.min((this.retryAfterS ?? 0) * 1000, longestRetryAfterMs))
  }
}

/** What came of an attempt. */
export interface Attempted {
  /** Of the answer; undefined when there was none. */
  readonly status: number | undefined
  readonly latencyMs: number
  readonly failure: DeliveryFailed | undefined
}

interface Sent {
  readonly id: string
  readonly body: string
  readonly url: string
  readonly secrets: readonly [string, ...string[]]
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** Sends a message once. Redirects are not followed, and nothing of the answer but its head is read. Rejects when it is stopped. */
export async function attempt(post: Context<unknown>['post'], sent: Sent): Promise<Attempted> {
  const { id, body, url, secrets, headers, signal } = sent
  const started = performance.now()
  const latency = (): number => Math.round((performance.now() - started) * 1000) / 1000
  try {
    const answer = await post(url, {
      body,
      headers: {
        'user-agent': 'Switchyard-Webhooks',
        ...headers,
        'content-type': 'application/json',
        ...signedHeaders(id, new Date(), body, secrets),
      },
      timeoutMs: answerMs,
      signal,
    })
    const { status } = answer
    const failure = failureOf(url, status, answer.headers['retry-after'])
    return { status, latencyMs: latency(), failure }
  } catch (error) {
    if (signal.aborted) throw error
    return { status: undefined, latencyMs: latency(), failure: new DeliveryFailed(reasonOf(error), {}) }
  }
}

function failureOf(
  url: string,
  status: number,
  retryAfter: PostAnswer['headers'][string],
): DeliveryFailed | undefined {
  if (status >= 200 && status < 300) return undefined
  if (status === gone) return new DeliveryFailed('It answered 410: the address is gone.', { gone: url })
  const what = status >= 300 && status < 400 ? 'a redirect, which is not followed' : 'that it failed'
  return new DeliveryFailed(`It answered ${status}: ${what}.`, { retryAfterS: secondsOf(retryAfter) })
}

/** Seconds or a date. */
function secondsOf(retryAfter: PostAnswer['headers'][string]): number | undefined {
  if (typeof retryAfter !== 'string') return undefined
  const seconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) : (Date.parse(retryAfter) - Date.now()) / 1000
  return Number.isFinite(seconds) && seconds > 0 ? seconds : undefined
}

/** Why no answer came; a failure of the connection says it in its cause. */
function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error
  if (name === 'TimeoutError') return `It did not answer within ${answerMs / 1000} s.`
  return cause instanceof Error ? `${message}: ${cause.message}` : message
}
