import type { Target, UpstreamError, UpstreamHead } from '#kernel'
import { objectIn, upstreamFailure } from '#provider'

/**
 * The status for content that the provider does not allow in a request or an answer: the caller's mistake, with a number that
 * no other service uses.
 */
const denied = 498

/** The caller's error for an error answer: the caller's own mistakes keep their status, the provider's are 502. */
export function upstreamError(
  { status, headers }: UpstreamHead,
  body: Buffer,
  target: Target,
): UpstreamError {
  const said = objectIn(body.toString('utf8'))?.message
  const message = typeof said === 'string' && said !== '' ? said : undefined
  return upstreamFailure({ status: status === denied ? 400 : status, headers, message }, target)
}
