import { type Target, UpstreamError, type UpstreamFault } from '#kernel'
import type { AccessToken } from './access-tokens.ts'
import { refusedKey } from './key-advice.ts'

const maxMs = 10_000
/** RFC 6749 recommends this member, and every service sends it. */
const usualLifetimeS = 3600

/** A request for a token: a form to an endpoint, or headers to a machine's metadata service, which has no form. */
export interface TokenRequest {
  readonly url: string
  readonly form?: URLSearchParams
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Asks an OAuth 2.0 token endpoint (RFC 6749, section 4 and 5), or what answers like one, for an access token. Rejects with an UpstreamError of the
 * target's provider: status 401 where the endpoint refuses what it was shown, retryable where it failed. The error names
 * the endpoint's code and nothing of what was sent.
 */
export async function fetchToken(
  { url, form, headers }: TokenRequest,
  target: Target,
): Promise<AccessToken<string>> {
  const { name } = target.provider
  const askedAt = Date.now()
  const response = await fetch(url, {
    ...(form && { method: 'POST', body: form }),
    headers: { accept: 'application/json', ...headers },
    redirect: 'error',
    signal: AbortSignal.timeout(maxMs),
  }).catch((cause: unknown) => {
    throw failure(target, `The token endpoint of ${name} could not be reached.`, {
      fault: 'network',
      retryable: true,
      cause,
    })
  })
  const answer = (await response.json().catch(() => ({}))) as {
    access_token?: unknown
    expires_in?: unknown
    error?: unknown
  } | null
  if (response.ok && typeof answer?.access_token === 'string' && answer.access_token !== '') {
    const lifetimeS = Number(answer.expires_in ?? usualLifetimeS)
    return {
      value: answer.access_token,
      expiresAt: askedAt + 1000 * (lifetimeS > 0 ? lifetimeS : usualLifetimeS),
    }
  }
  const refuses = response.status >= 400 && response.status < 500 && response.status !== 429
  const native = typeof answer?.error === 'string' ? answer.error.slice(0, 100) : `status ${response.status}`
  throw failure(
    target,
    refuses
      ? refusedKey(`The token endpoint of ${name}`, target, native)
      : `The token endpoint of ${name} gave no token (${native}).`,
    { fault: 'status', retryable: !refuses, providerStatus: refuses ? 401 : response.status, native },
  )
}

interface Detail {
  readonly fault: UpstreamFault
  readonly retryable: boolean
  readonly providerStatus?: number
  readonly native?: string
  readonly cause?: unknown
}

const failure = ({ provider, model }: Target, message: string, detail: Detail): UpstreamError =>
  new UpstreamError('provider_error', message, { provider: provider.name, model, ...detail })
