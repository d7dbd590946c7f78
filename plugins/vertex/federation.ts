import { type Target, UpstreamError } from '#kernel'
import type { AccessToken } from '#provider'
import { scope } from './grant.ts'
import type { GoogleKey } from './key.ts'

/** How long a token without a stated end is kept. */
const usualMs = 15 * 60_000

/**
 * A token for an identity of another issuer's (RFC 8693): what its configuration says is read, fetched or signed, shown
 * to Google, and exchanged for that of a service account where it names one. Rejects with an UpstreamError, status 401
 * where Google refuses.
 */
export async function federatedToken(
  { configuration }: Extract<GoogleKey, { kind: 'federation' }>,
  target: Target,
): Promise<AccessToken<string>> {
  // Loaded at first use: most installations never need it.
  const { ExternalAccountClient } = await import('google-auth-library')
  try {
    const options = { ...configuration, scopes: [scope] }
    // Made anew each time: the token that it shows may have been replaced.
    const client = ExternalAccountClient.fromJSON(
      options as Parameters<typeof ExternalAccountClient.fromJSON>[0],
    )
    if (!client) throw new TypeError('no client')
    client.scopes = [scope]
    const { token } = await client.getAccessToken()
    if (!token) throw new TypeError('no token')
    return { value: token, expiresAt: client.credentials.expiry_date ?? Date.now() + usualMs }
  } catch (cause) {
    throw failure(cause, target)
  }
}

interface Cause {
  readonly name?: string
  readonly code?: unknown
  readonly status?: number
  readonly response?: { readonly status?: number }
}

/** What went wrong, by its status or name: messages of the library's may quote what was shown. */
function failure(cause: unknown, { provider, model }: Target): UpstreamError {
  const { name = 'Error', code, status: own, response } = cause as Cause
  const status = response?.status ?? own
  const refuses = status !== undefined && status >= 400 && status < 500 && status !== 429
  const native = status === undefined ? (typeof code === 'string' ? code : name) : `status ${status}`
  const said = refuses
    ? `Google refused the federated identity of ${provider.name} (${native}).`
    : `The federated identity of ${provider.name} got no token (${native}).`
  return new UpstreamError('provider_error', said, {
    provider: provider.name,
    model,
    fault: status === undefined ? 'network' : 'status',
    retryable: !refuses,
    ...(status !== undefined && { providerStatus: refuses ? 401 : status }),
    native,
    cause,
  })
}
