import type { Target, UpstreamError, UpstreamHead } from '#kernel'
import { upstreamFailure } from '#provider'

interface Detail {
  readonly '@type'?: unknown
  readonly reason?: unknown
  readonly retryDelay?: unknown
}

/** An error of Google's APIs. */
interface Status {
  readonly code?: unknown
  readonly message?: unknown
  readonly status?: unknown
  readonly details?: readonly Detail[]
}

/** The caller's error for an error answer: the caller's own mistakes keep their status, the provider's are 502. */
export function upstreamError(head: UpstreamHead, body: Buffer, target: Target): UpstreamError {
  return errorOf(statusIn(body), head.status, target, head.headers)
}

/** The same, of an error that stands in an event of a stream. */
export function errorOf(
  error: Status,
  status: number,
  target: Target,
  headers: UpstreamHead['headers'] = {},
): UpstreamError {
  const given: readonly unknown[] = Array.isArray(error.details) ? error.details : []
  const details = given.filter((detail): detail is Detail => typeof detail === 'object' && detail !== null)
  const native = text(error.status)
  // A wait such as `17.5s`, where no header says it.
  const wait = details.map(({ retryDelay }) => text(retryDelay)).find((value) => value !== undefined)
  return upstreamFailure(
    {
      status,
      native,
      message: text(error.message),
      headers: wait === undefined ? headers : { ...headers, 'retry-after': wait },
      // A key that is no key is 400 here.
      ofKey: details.some(({ reason }) => reason === 'API_KEY_INVALID') ? 401 : undefined,
      // A location it does not serve, or billing that is off.
      notOfCaller: native === 'FAILED_PRECONDITION',
    },
    target,
  )
}

/** The error in a body; the streaming endpoint wraps it in a list when events were not asked for. */
function statusIn(body: Buffer): Status {
  try {
    const parsed = JSON.parse(body.toString('utf8')) as unknown
    const first = (Array.isArray(parsed) ? parsed[0] : parsed) as { error?: unknown } | null
    return typeof first?.error === 'object' && first.error !== null ? first.error : {}
  } catch {
    return {}
  }
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined
