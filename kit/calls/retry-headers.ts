/** What an error of the gateway says of trying again. */
interface Refusal {
  readonly status: number
  readonly retryAfterS: number | undefined
  /** The module that refused, if one did. */
  readonly module: string | undefined
  readonly details: Readonly<Record<string, unknown>> | undefined
}

/** Seconds after which a call may pass that was refused for now, by who could not say for how long. */
const soonS = 5
/** Seconds where no time lifts a limit, such as one of each single call: a module that refuses by it names none. */
const lateS = 3600

/**
 * The headers of an error that say when to try again. With a 429 they say that nothing remains, also where another limit told in the
 * headers that are `there` that it has room. A limit that told its own, such as too few tokens, has said enough.
 */
export function retryHeaders(
  { status, retryAfterS, module, details }: Refusal,
  there: Readonly<Record<string, unknown>> = {},
): Record<string, string> {
  const isLimit = status === 429
  const seconds = retryAfterS ?? (isLimit ? (module === undefined ? soonS : lateS) : undefined)
  if (seconds === undefined) return {}
  const after = String(Math.ceil(seconds))
  if (!isLimit) return { 'retry-after': after }
  const limit = typeof details?.limit === 'number' ? String(details.limit) : undefined
  const isTold =
    there['x-ratelimit-remaining'] === '0' || (limit !== undefined && there['x-ratelimit-limit'] === limit)
  if (isTold) return { 'retry-after': after }
  return {
    'retry-after': after,
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': after,
    ...(limit !== undefined && { 'x-ratelimit-limit': limit }),
  }
}
