import type { Target, UpstreamError, UpstreamHead } from '#kernel'
import { objectIn, upstreamFailure } from '#provider'

/** What a request or an answer says is not allowed: the caller's affair, with a number that no one else uses. */
const denied = 498

/** What an error answer means to the caller: its own mistakes keep their status, the provider's are 502. */
export function upstreamError(
  { status, headers }: UpstreamHead,
  body: Buffer,
  target: Target,
): UpstreamError {
  const said = objectIn(body.toString('utf8'))?.message
  const message = typeof said === 'string' && said !== '' ? said : undefined
  return upstreamFailure({ status: status === denied ? 400 : status, headers, message }, target)
}
