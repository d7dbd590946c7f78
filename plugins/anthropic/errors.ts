import { type ErrorCode, type Target, UpstreamError, type UpstreamHead } from '#kernel'

/** `error` of an error answer or event. */
export interface NativeError {
  readonly type?: unknown
  readonly message?: unknown
}

/** The status an error would have had, had it not come inside a stream. */
const statusOf: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
}

/** Errors that are the caller's own keep their status. */
const kept: Readonly<Record<number, ErrorCode>> = {
  400: 'bad_request',
  404: 'not_found',
  413: 'bad_request',
  422: 'bad_request',
  429: 'rate_limited',
}

/** What an error answer means to the caller: its own mistakes keep their status, the provider's are 502, its overload 503. */
export function upstreamError(head: UpstreamHead, body: Buffer, target: Target): UpstreamError {
  return errorOf(head.status, nativeError(body), target, head)
}

/** What an error event inside a stream means. */
export function eventError(error: NativeError, target: Target): UpstreamError {
  return errorOf(statusOf[String(error.type)] ?? 500, error, target)
}

/** The provider did not keep to its own protocol. */
export function brokenProtocol(what: string, { provider, model }: Target, cause?: unknown): UpstreamError {
  return new UpstreamError('provider_error', `The provider ${provider.name} ${what}.`, {
    provider: provider.name,
    model,
    fault: 'protocol',
    retryable: true,
    cause,
  })
}

function errorOf(
  status: number,
  { type, message }: NativeError,
  { provider, model, key }: Target,
  head?: UpstreamHead,
): UpstreamError {
  const native = text(type)
  const about = { provider: provider.name, model, fault: 'status', providerStatus: status, native } as const
  if (status === 401 || status === 403) {
    const whose = key?.owner === 'user' ? 'your own key' : "the gateway's key"
    const said = `${provider.name} refused ${whose} for it (status ${status}).`
    return new UpstreamError('provider_error', said, { ...about, retryable: false })
  }
  const said = text(message)?.slice(0, 1000) ?? `it answered with status ${status}`
  return new UpstreamError(kept[status] ?? 'provider_error', `${provider.name}: ${said}`, {
    ...about,
    status: kept[status] ? status : status === 529 ? 503 : status === 504 ? 504 : 502,
    type: kept[status] && status !== 429 ? native : undefined,
    retryable: status === 408 || status === 409 || status === 429 || status >= 500,
    retryAfterS: head && retryAfter(head),
  })
}

/** Seconds to wait, from either form of the header. */
function retryAfter({ headers }: UpstreamHead): number | undefined {
  const value = headers['retry-after']
  if (value === undefined) return undefined
  const seconds = /^\d+(\.\d+)?$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined
}

function nativeError(body: Buffer): NativeError {
  try {
    const { error } = JSON.parse(body.toString('utf8')) as { error?: NativeError | string }
    return typeof error === 'object' && error !== null ? error : { message: error }
  } catch {
    return {}
  }
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined
