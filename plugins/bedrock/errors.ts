import { type ErrorCode, type Target, UpstreamError, type UpstreamHead } from '#kernel'

/** The status an exception would have had, had it not come inside a stream. */
const statusOf: ReadonlyMap<string, number> = new Map(
  Object.entries({
    accessdeniedexception: 403,
    internalserverexception: 500,
    modelerrorexception: 424,
    modelnotreadyexception: 429,
    modelstreamerrorexception: 424,
    modeltimeoutexception: 408,
    resourcenotfoundexception: 404,
    serviceunavailableexception: 503,
    throttlingexception: 429,
    validationexception: 400,
  }),
)

/** Exceptions that speak of the key, whatever their status. */
const ofKeys =
  /^(?:AccessDenied|ExpiredToken|InvalidClientTokenId|InvalidSignature|MissingAuthenticationToken|UnrecognizedClient|IncompleteSignature)/

const kept: Readonly<Record<number, ErrorCode>> = {
  400: 'bad_request',
  404: 'not_found',
  413: 'bad_request',
  429: 'rate_limited',
}

/** What an error answer means to the caller: its own mistakes keep their status, the provider's are 502, its overload 503. */
export function upstreamError(head: UpstreamHead, body: Buffer, target: Target): UpstreamError {
  const { message, type } = fieldsIn(body)
  // The header may have an address after the name, and the type a namespace before it.
  const native = head.headers['x-amzn-errortype']?.split(':')[0] ?? type?.split('#').at(-1)
  return errorOf({ status: head.status, native, message }, target, head.headers['retry-after'])
}

/** What an exception inside a stream means. */
export function exceptionError(
  name: string,
  payload: { readonly message?: unknown },
  target: Target,
): UpstreamError {
  const status = statusOf.get(name.toLowerCase()) ?? 500
  return errorOf({ status, native: name, message: text(payload.message) }, target)
}

interface Failure {
  readonly status: number
  readonly native: string | undefined
  readonly message: string | undefined
}

function errorOf({ status, native, message }: Failure, target: Target, retryAfter?: string): UpstreamError {
  const { provider, model, key } = target
  const about = { provider: provider.name, model, fault: 'status', native } as const
  if (status === 401 || status === 403 || (native !== undefined && ofKeys.test(native))) {
    const whose = key?.owner === 'user' ? 'your own key' : "the gateway's key"
    const why = native === undefined ? `status ${status}` : native
    return new UpstreamError('provider_error', `${provider.name} refused ${whose} for it (${why}).`, {
      ...about,
      // Who chooses among keys knows these two for that.
      providerStatus: status === 401 ? 401 : 403,
      retryable: false,
    })
  }
  const said = message?.slice(0, 1000) ?? `it answered with status ${status}`
  const code = kept[status]
  return new UpstreamError(code ?? 'provider_error', `${provider.name}: ${said}`, {
    ...about,
    providerStatus: status,
    status: code ? status : status === 503 ? 503 : status === 408 || status === 504 ? 504 : 502,
    retryable: [408, 409, 424, 429].includes(status) || status >= 500,
    retryAfterS: secondsOf(retryAfter),
  })
}

function secondsOf(header: string | undefined): number | undefined {
  const seconds = Number.parseFloat(header ?? '')
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined
}

function fieldsIn(body: Buffer): { message: string | undefined; type: string | undefined } {
  try {
    const parsed = JSON.parse(body.toString('utf8')) as Record<string, unknown> | null
    return { message: text(parsed?.message) ?? text(parsed?.Message), type: text(parsed?.__type) }
  } catch {
    return { message: undefined, type: undefined }
  }
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined
