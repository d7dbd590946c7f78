import type { Target, UpstreamError, UpstreamHead } from '#kernel'
import { protocolError, upstreamFailure } from '#provider'

/** `error` of an error answer or event. */
export interface NativeError {
  readonly type?: unknown
  /** Google's name for it, where Google refuses. */
  readonly status?: unknown
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

/**
 * The caller's error for an error answer: the caller's own mistakes keep their status, the provider's are 502, its overload
 * 503.
 */
export function upstreamError(head: UpstreamHead, body: Buffer, target: Target): UpstreamError {
  return errorOf(head.status, nativeError(body), target, head)
}

/** The caller's error for an error event inside a stream. */
export function eventError(error: NativeError, target: Target): UpstreamError {
  return errorOf(statusOf[String(error.type)] ?? 500, error, target)
}

/** The provider did not keep to its own protocol. */
export const brokenProtocol = (what: string, target: Target, cause?: unknown): UpstreamError =>
  protocolError(target, what, { retryable: true, cause })

function errorOf(status: number, error: NativeError, target: Target, head?: UpstreamHead): UpstreamError {
  const native = text(error.type) ?? text(error.status)
  return upstreamFailure(
    {
      status,
      native,
      message: text(error.message),
      type: text(error.type),
      headers: head?.headers ?? {},
      shown: status === 529 ? 503 : status === 504 ? 504 : undefined,
    },
    target,
  )
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
