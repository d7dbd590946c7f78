import { type ErrorCode, type Target, UpstreamError, type UpstreamHead } from '#kernel'
import { refusedKey } from './key-advice.ts'

/** A provider's message when it refused or failed, taken out of its own form. */
export interface UpstreamFailure {
  readonly status: number
  readonly headers?: UpstreamHead['headers']
  /** Its own name of the error. */
  readonly native?: string | undefined
  readonly message?: string | undefined
  /** Kept for the caller where the mistake is the caller's. */
  readonly type?: string | undefined
  readonly param?: string | undefined
  /** Speaks of the key whatever the status: 401 for one that is none (any more), 403 for one that may not. */
  readonly ofKey?: 401 | 403 | undefined
  /** Nothing that the caller could change, whatever the status says. */
  readonly notOfCaller?: boolean
  /** The status to show in the place of 502. */
  readonly shown?: number | undefined
}

/** The caller's own mistakes keep their status, and so do limits. */
const kept: Readonly<Record<number, ErrorCode>> = {
  400: 'bad_request',
  404: 'not_found',
  413: 'bad_request',
  422: 'bad_request',
  429: 'rate_limited',
}

/** Characters of a provider's message. */
const longestMessage = 1000

const passing = new Set([408, 409, 424, 425, 429])

/**
 * What an error of a provider's means to the caller: its own mistakes keep their status, a key that was refused and all
 * else are the provider's, 502 unless `shown` says otherwise. Messages are cut at 1,000 characters, and not within a word.
 */
export function upstreamFailure(
  { status, headers = {}, native, message, ofKey, notOfCaller = false, ...said }: UpstreamFailure,
  target: Target,
): UpstreamError {
  const { provider, model } = target
  const about = { provider: provider.name, model, fault: 'status', native } as const
  if (status === 401 || status === 403 || ofKey !== undefined) {
    const why = refusedKey(provider.name, target, native ?? `status ${status}`)
    return new UpstreamError('provider_error', why, {
      ...about,
      providerStatus: ofKey ?? status,
      retryable: false,
    })
  }
  const code = notOfCaller ? undefined : kept[status]
  const words = brief(message ?? '', longestMessage) || `it answered with status ${status}`
  const retryable = wordOn(headers) ?? (passing.has(status) || status >= 500)
  return new UpstreamError(code ?? 'provider_error', `${provider.name}: ${words}`, {
    ...about,
    providerStatus: status,
    status: code ? status : (said.shown ?? 502),
    type: code && status !== 429 ? said.type : undefined,
    param: said.param,
    retryable,
    retryAfterS: retryable ? retryAfterS(headers) : undefined,
  })
}

/** A provider's words, cut at so many characters and not within a word: a part of a key would be found by no guard. */
export const brief = (words: string, most: number): string =>
  words.length > most ? words.slice(0, most).replace(/\S*$/, '').trimEnd() : words

/** What OpenAI and Anthropic tell their own clients of trying again. */
function wordOn({ 'x-should-retry': said }: UpstreamHead['headers']): boolean | undefined {
  return said === 'true' ? true : said === 'false' ? false : undefined
}

/** Seconds of the longest wait that a provider is believed: a day, after which asking again costs nothing. */
const longestWaitS = 86_400

/** Seconds to wait, from the headers in any of their forms, a day at the most; undefined where they say nothing of it. */
export function retryAfterS(headers: UpstreamHead['headers']): number | undefined {
  const ms = Number(headers['retry-after-ms'])
  if (ms > 0) return Math.min(ms / 1000, longestWaitS)
  const value = headers['retry-after']
  if (value === undefined) return undefined
  const seconds = /^\d+(\.\d+)?s?$/.test(value)
    ? Number.parseFloat(value)
    : (Date.parse(value) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.min(Math.max(0, seconds), longestWaitS) : undefined
}
