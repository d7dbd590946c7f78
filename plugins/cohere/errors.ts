import { type ErrorCode, type Target, UpstreamError, type UpstreamHead } from '#kernel'

const kept: Readonly<Record<number, ErrorCode>> = {
  400: 'bad_request',
  404: 'not_found',
  413: 'bad_request',
  422: 'bad_request',
  429: 'rate_limited',
}

/** What an error answer means to the caller: its own mistakes keep their status, the provider's are 502. */
export function upstreamError(
  { status, headers }: UpstreamHead,
  body: Buffer,
  { provider, model, key }: Target,
): UpstreamError {
  const about = { provider: provider.name, model, fault: 'status', providerStatus: status } as const
  if (status === 401 || status === 403) {
    const whose = key?.owner === 'user' ? 'your own key' : "the gateway's key"
    const message = `${provider.name} refused ${whose} for it (status ${status}).`
    return new UpstreamError('provider_error', message, { ...about, retryable: false })
  }
  const code = kept[status]
  const said = messageIn(body)?.slice(0, 1000) ?? `it answered with status ${status}`
  return new UpstreamError(code ?? 'provider_error', `${provider.name}: ${said}`, {
    ...about,
    status: code ? status : 502,
    retryable: status === 408 || status === 409 || status === 429 || status >= 500,
    retryAfterS: status === 429 || status === 503 ? secondsOf(headers['retry-after']) : undefined,
  })
}

function secondsOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const seconds = /^\d+(\.\d+)?$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined
}

function messageIn(body: Buffer): string | undefined {
  try {
    const { message } = JSON.parse(body.toString('utf8')) as { message?: unknown }
    return typeof message === 'string' && message !== '' ? message : undefined
  } catch {
    return undefined
  }
}
