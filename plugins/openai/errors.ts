import { type ErrorCode, type Target, UpstreamError, type UpstreamHead } from '#kernel'

/** An error as OpenAI writes it; its likes leave out what they like. */
export interface WireError {
  readonly message?: unknown
  readonly type?: unknown
  readonly code?: unknown
  readonly param?: unknown
}

const kept: Readonly<Record<number, ErrorCode>> = {
  400: 'bad_request',
  404: 'not_found',
  413: 'bad_request',
  422: 'bad_request',
  429: 'rate_limited',
}

/** What a provider's error answer means to the caller: its own mistakes keep their status, the provider's are 502. */
export function upstreamError(
  head: UpstreamHead,
  body: Buffer,
  { provider, model, key }: Target,
): UpstreamError {
  const { message, type, code, param } = wireError(body)
  const { status } = head
  const about = { provider: provider.name, model, fault: 'status', providerStatus: status } as const
  if (status === 401 || status === 403) {
    const whose = key?.owner === 'user' ? 'your own key' : "the gateway's key"
    return new UpstreamError(
      'provider_error',
      `${provider.name} refused ${whose} for it (status ${status}).`,
      {
        ...about,
        retryable: false,
        native: text(code) ?? text(type),
      },
    )
  }
  const said = (text(message) ?? detailIn(message))?.slice(0, 1000) ?? `it answered with status ${status}`
  return new UpstreamError(kept[status] ?? 'provider_error', `${provider.name}: ${said}`, {
    ...about,
    status: kept[status] ? status : 502,
    type: kept[status] && status !== 429 ? text(type) : undefined,
    param: text(param),
    retryable: status === 408 || status === 409 || status === 429 || status >= 500,
    retryAfterS: status === 429 || status === 503 ? retryAfter(head) : undefined,
    native: text(code) ?? text(type),
  })
}

/** Seconds to wait, from either form of the header. */
function retryAfter({ headers }: UpstreamHead): number | undefined {
  const ms = Number(headers['retry-after-ms'])
  if (ms > 0) return ms / 1000
  const value = headers['retry-after']
  if (value === undefined) return undefined
  const seconds = /^\d+(\.\d+)?$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined
}

/** OpenAI nests the error, others send it bare, as a list, or as text. */
function wireError(body: Buffer): WireError {
  try {
    const parsed = JSON.parse(body.toString('utf8')) as unknown
    const first = Array.isArray(parsed) ? parsed[0] : parsed
    if (typeof first !== 'object' || first === null) return { message: first }
    const { error = first } = first as { error?: unknown }
    return typeof error === 'object' && error !== null ? error : { message: error }
  } catch {
    return {}
  }
}

/** What is wrong field by field, as some say it in the place of a message. */
const detailIn = (message: unknown): string | undefined =>
  typeof message === 'object' && message !== null ? JSON.stringify(message) : undefined

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined
