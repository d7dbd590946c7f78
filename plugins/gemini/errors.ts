import { type ErrorCode, type Target, UpstreamError, type UpstreamHead } from '#kernel'

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

const kept: Readonly<Record<number, ErrorCode>> = {
  400: 'bad_request',
  404: 'not_found',
  413: 'bad_request',
  429: 'rate_limited',
}

/** What an error answer means to the caller: its own mistakes keep their status, the provider's are 502. */
export function upstreamError(head: UpstreamHead, body: Buffer, target: Target): UpstreamError {
  return errorOf(statusIn(body), head.status, target, head.headers['retry-after'])
}

/** The same, of an error that stands in an event of a stream. */
export function errorOf(
  error: Status,
  status: number,
  { provider, model, key }: Target,
  retryAfter?: string,
): UpstreamError {
  const details = Array.isArray(error.details) ? error.details : []
  const native = text(error.status)
  const about = { provider: provider.name, model, fault: 'status', native } as const
  if (status === 401 || status === 403 || refusesKey(details)) {
    const whose = key?.owner === 'user' ? 'your own key' : "the gateway's key"
    return new UpstreamError(
      'provider_error',
      `${provider.name} refused ${whose} for it (status ${status}).`,
      // A key that is no key is 400 here; who chooses among keys knows 401 for that.
      { ...about, providerStatus: status === 400 ? 401 : status, retryable: false },
    )
  }
  const said = text(error.message)?.slice(0, 1000) ?? `it answered with status ${status}`
  // A location it does not serve, or billing that is off: nothing that the caller could change.
  const code = native === 'FAILED_PRECONDITION' ? undefined : kept[status]
  return new UpstreamError(code ?? 'provider_error', `${provider.name}: ${said}`, {
    ...about,
    providerStatus: status,
    status: code ? status : 502,
    retryable: status === 408 || status === 409 || status === 429 || status >= 500,
    retryAfterS: status === 429 || status === 503 ? waitOf(details, retryAfter) : undefined,
  })
}

const refusesKey = (details: readonly Detail[]): boolean =>
  details.some(({ reason }) => reason === 'API_KEY_INVALID')

/** Seconds to wait: a detail such as `17.5s`, or the usual header. */
function waitOf(details: readonly Detail[], header: string | undefined): number | undefined {
  const delay = details.map(({ retryDelay }) => text(retryDelay)).find((value) => value)
  const seconds = Number.parseFloat(delay ?? header ?? '')
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined
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
