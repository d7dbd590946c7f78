import { type Cancel, type Registry, type Target, UpstreamError } from '#kernel'
import { hideKey } from './delivery/attempt.ts'
import type { Directory } from './directory.ts'
import { forgetKey, readyTarget } from './kit/key-exchange.ts'
import type { Transport } from './transport/transport.ts'

/** What a text can be scored for. */
export const abuseCategories = ['hate', 'harassment', 'sexual', 'violence', 'self_harm'] as const
export type AbuseCategory = (typeof abuseCategories)[number]
/** From 0 to 1; a category that the provider does not know is absent. */
export type AbuseScores = Readonly<Partial<Record<AbuseCategory, number>>>

const timeouts = { connectMs: 5000, firstByteMs: 15_000, idleMs: 10_000 }
/** Texts of one request. */
const mostTexts = 32

/** Asks providers how abusive texts are, with the gateway's own keys. */
export class Moderator {
  readonly #registry: Registry
  readonly #directory: Directory
  readonly #transport: Transport

  constructor(registry: Registry, directory: Directory, transport: Transport) {
    this.#registry = registry
    this.#directory = directory
    this.#transport = transport
  }

  /**
   * The scores of each text by a moderation model, named as in a call. Rejects with an UpstreamError when the provider fails or
   * does not score every text, and with a coded error for a model that no provider serves.
   */
  async scores(texts: readonly string[], model: string, cancel: Cancel): Promise<readonly AbuseScores[]> {
    const [route] = this.#directory.resolve(model, undefined)
    const target: Target = { provider: route!.provider, model: route!.model, key: route!.provider.keys[0] }
    const scores: AbuseScores[] = []
    for (let at = 0; at < texts.length; at += mostTexts)
      scores.push(...(await this.#ask(texts.slice(at, at + mostTexts), target, cancel)))
    return scores
  }

  async #ask(texts: readonly string[], target: Target, cancel: Cancel): Promise<readonly AbuseScores[]> {
    const { protocols, services } = this.#registry.generation
    const protocol = protocols.get(target.provider.protocol)
    if (!protocol?.moderation) throw failure(target, 'does not score texts')
    const ready = await readyTarget(target, services)
    const request = protocol.moderation.encode(texts, ready)
    const answer = await this.#transport.send(request, target, cancel, timeouts)
    const body = await answer.whole()
    if (answer.status >= 400) {
      if (answer.status === 401) forgetKey(target, ready, services)
      throw hideKey(protocol.error(answer, body, target), target)
    }
    const scores = protocol.moderation.decode(body)
    if (scores?.length === texts.length) return scores
    throw failure(target, 'did not score every text')
  }
}

const failure = ({ provider, model }: Target, problem: string): UpstreamError =>
  new UpstreamError('provider_error', `The provider ${provider.name} ${problem}.`, {
    provider: provider.name,
    model,
    fault: 'protocol',
    retryable: false,
  })
