import type { Target, UpstreamError, UpstreamHead } from '#kernel'
import { type UpstreamFailure, upstreamFailure } from '#provider'

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
    servicequotaexceededexception: 429,
    serviceunavailableexception: 503,
    throttlingexception: 429,
    validationexception: 400,
  }),
)

/** Exceptions that speak of a key that is none or no longer one, whatever their status. */
const badKey =
  /^(?:ExpiredToken|InvalidClientTokenId|InvalidSignature|MissingAuthenticationToken|UnrecognizedClient|IncompleteSignature)/

/**
 * The caller's error for an error answer: the caller's own mistakes keep their status, the provider's are 502, its overload
 * 503.
 */
export function upstreamError(head: UpstreamHead, body: Buffer, target: Target): UpstreamError {
  const { message, type } = fieldsIn(body)
  // The header may have an address after the name, and the type a namespace before it.
  const native = head.headers['x-amzn-errortype']?.split(':')[0] ?? type?.split('#').at(-1)
  return errorOf({ status: head.status, native, message, headers: head.headers }, target)
}

/** The caller's error for an exception inside a stream. */
export function exceptionError(
  name: string,
  payload: { readonly message?: unknown },
  target: Target,
): UpstreamError {
  const status = statusOf.get(name.toLowerCase()) ?? 500
  return errorOf({ status, native: name, message: text(payload.message) }, target)
}

function errorOf(failure: UpstreamFailure, target: Target): UpstreamError {
  const { status, native = '' } = failure
  const ofKey = badKey.test(native) ? 401 : native.startsWith('AccessDenied') ? 403 : undefined
  // Comes as a mistake of the caller's, and is the account's limit.
  if (native.startsWith('ServiceQuotaExceeded')) return upstreamFailure({ ...failure, status: 429 }, target)
  const shown = status === 503 ? 503 : status === 408 || status === 504 ? 504 : undefined
  return upstreamFailure({ ...failure, ofKey, shown }, target)
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
