import { type Target, token } from '#kernel'
import { jsonObject } from '#kit'
import { brokenProtocol, upstreamError } from './errors.ts'
import { headersOf } from './protocol.ts'
import { bodyFor, urlOf } from './quirks.ts'

/** Counts the tokens of a request in this protocol's own words. */
export interface TokenCounter {
  /** Resolves with the provider's count; rejects with an UpstreamError. */
  count(
    body: object,
    target: Target,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<number>
}

export const TokenCounters = token<TokenCounter>('token-counter/anthropic')

const maxMs = 30_000

export const counter: TokenCounter = {
  async count(body, target, headers, signal) {
    const response = await fetch(urlOf(target, 'count'), {
      method: 'POST',
      headers: { ...headersOf(target), ...headers, ...target.provider.headers },
      body: bodyFor(target, { ...body, model: target.model }, 'count'),
      signal: AbortSignal.any([signal, AbortSignal.timeout(maxMs)]),
    }).catch((cause: unknown) => {
      throw brokenProtocol('could not be reached', target, cause)
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    const head = { status: response.status, headers: Object.fromEntries(response.headers) }
    if (!response.ok) throw upstreamError(head, bytes, target)
    const { input_tokens: count } = jsonObject(bytes, target) as { input_tokens?: unknown }
    if (typeof count !== 'number') throw brokenProtocol('did not say how many tokens there are', target)
    return count
  },
}
