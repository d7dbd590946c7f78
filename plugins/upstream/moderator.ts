import { type Arrangement, type Call, forbidden, type Target, UpstreamError } from '#kernel'
import { cleanError } from './delivery/attempt.ts'
import { judged } from './delivery/choice.ts'
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
  readonly #on: () => Arrangement
  readonly #directory: Directory
  readonly #transport: Transport

  constructor(on: () => Arrangement, directory: Directory, transport: Transport) {
    this.#on = on
    this.#directory = directory
    this.#transport = transport
  }

  /**
   * The scores of each text of a call by a moderation model, named as in a call. They go where modules let the call go. Rejects
   * with an UpstreamError when the provider fails or does not score every text, with a coded error for a model that no
   * provider serves, and with a refusal where the call may go to none of them.
   */
  async scores(texts: readonly string[], model: string, call: Call): Promise<readonly AbuseScores[]> {
    const target = this.#targetOf(model, call)
    const scores: AbuseScores[] = []
    for (let at = 0; at < texts.length; at += mostTexts)
      scores.push(...(await this.#ask(texts.slice(at, at + mostTexts), target, call)))
    return scores
  }

  #targetOf(model: string, call: Call): Target {
    const routes = this.#directory.resolve(model, undefined)
    const usable = routes.map((route) => ({ route, keys: route.provider.keys }))
    const [best] = judged(call, usable, this.#on())
    const { usable: chosen, candidate, refusal } = best!
    if (refusal)
      throw forbidden(
        `The content cannot be checked by ${candidate.provider}/${candidate.model}: ${refusal.reason}. Ask an admin for a moderation model where this call may go.`,
        { module: refusal.module, type: 'no_target' },
      )
    const { provider, model: name } = chosen.route
    if (provider.unreadable) throw provider.unreadable
    return { provider, model: name, key: provider.keys[0] }
  }

  async #ask(texts: readonly string[], target: Target, call: Call): Promise<readonly AbuseScores[]> {
    const on = this.#on()
    const { protocols, services } = on
    const protocol = protocols.get(target.provider.protocol)
    if (!protocol?.moderation) throw failure(target, 'does not score texts')
    const ready = await readyTarget(target, services)
    const request = protocol.moderation.encode(texts, ready)
    const answer = await this.#transport.send(request, target, call.cancel, timeouts)
    const body = await answer.whole()
    if (answer.status >= 400) {
      if (answer.status === 401) forgetKey(target, ready, services)
      throw await cleanError(protocol.error(answer, body, target), { call, target, on })
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
