import { GatewayError, isGatewayError, isUpstreamError, providerError, UpstreamError } from '#kernel'

/** The end of a reader that is so far behind the others that it cannot catch up. */
export const tooSlow = (): GatewayError =>
  providerError(
    'The client reads much more slowly than others that get the same answer. Send Cache-Control: no-store for an answer of its own.',
    { status: 504, type: 'timeout' },
  )

/**
 * The failure of a call as it is told to the calls that wait for its answer; undefined where it may concern that call alone. The
 * provider failed all of them; a refusal by the gateway depends on who calls.
 */
export function sharedFailure(error: unknown): GatewayError | undefined {
  if (!isGatewayError(error) || !(isUpstreamError(error) || error.code === 'provider_error')) return undefined
  // The chain notes its module in an error that it can write to, and this one is no refusal by the module.
  return Object.freeze(copyOf(error))
}

function copyOf(error: GatewayError): GatewayError {
  const { code, message } = error
  if (!isUpstreamError(error)) return new GatewayError(code, message, { ...error })
  const { providerStatus, ...rest } = error
  return new UpstreamError(code, message, {
    ...rest,
    ...(providerStatus !== undefined && { providerStatus }),
  })
}
