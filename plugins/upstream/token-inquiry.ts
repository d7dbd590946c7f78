import { type Arrangement, type Call, type Target, UpstreamError } from '#kernel'
import { cleanError } from './delivery/attempt.ts'
import { fitted } from './delivery/tool-names.ts'
import { forgetKey, readyTarget } from './kit/key-exchange.ts'
import type { Transport } from './transport/transport.ts'

const timeouts = { connectMs: 5000, firstByteMs: 30_000, idleMs: 10_000 }

export interface ProviderCount {
  readonly tokens: number
  /** Whether the provider counted everything that a call would be billed for. */
  readonly exact: boolean
}

/** Asks providers how many tokens a call would have, where they count. */
export class TokenInquiry {
  readonly #on: () => Arrangement
  readonly #transport: Transport

  constructor(on: () => Arrangement, transport: Transport) {
    this.#on = on
    this.#transport = transport
  }

  /** Undefined where the provider cannot be asked about this call; rejects with an UpstreamError when it fails. */
  async count(asked: Call, target: Target): Promise<ProviderCount | undefined> {
    const on = this.#on()
    const { protocols, services } = on
    const protocol = protocols.get(target.provider.protocol)
    const question = protocol?.tokens
    if (!protocol || !question) return undefined
    const { call } = fitted(asked, target)
    const ready = await readyTarget(target, services)
    const request = await question.encode(call, ready)
    if (!request) return undefined
    const answer = await this.#transport.send(request, target, call.cancel, timeouts)
    const body = await answer.whole()
    if (answer.status >= 400) {
      if (question.declines?.(answer, body)) return undefined
      if (answer.status === 401) forgetKey(target, ready, services)
      throw await cleanError(protocol.error(answer, body, target), { call: asked, target, on })
    }
    return { tokens: tokensOf(() => question.decode(body, call, target), target), exact: question.exact }
  }
}

function tokensOf(read: () => number | undefined, { provider, model }: Target): number {
  let tokens: number | undefined
  let cause: unknown
  try {
    tokens = read()
  } catch (error) {
    cause = error
  }
  if (Number.isSafeInteger(tokens) && tokens! >= 0) return tokens!
  throw new UpstreamError(
    'provider_error',
    `The provider ${provider.name} did not say how many tokens there are.`,
    {
      provider: provider.name,
      model,
      fault: 'protocol',
      retryable: true,
      cause,
    },
  )
}
