import {
  type CallCredential,
  type Context,
  isGatewayError,
  isUpstreamError,
  type ModelRequest,
  type Principal,
} from '#kernel'
import { callProblem, collect } from '#kit'
import type { Conversation } from '../attacks/conversation.ts'
import { saidOf, tookTooLong } from './answer.ts'
import type { CallFindings } from './findings.ts'
import type { Asked, Said } from './said.ts'
import type { AskOptions, Target } from './target.ts'

/** Modules that would answer from earlier answers, or remember the attack. None of them guards. */
const passedBy = ['playback', 'cachelayer', 'semanticcache', 'embedcache', 'inflight', 'chatmem']

/** In whose name the gateway is attacked, and which model. */
export interface GatewayAttack {
  readonly as: Principal
  readonly ip: string
  readonly model: string
  readonly project?: string | undefined
  readonly tags?: Readonly<Record<string, string>>
  readonly credential?: CallCredential | undefined
  readonly maxTokens: number
  readonly timeoutMs: number
}

/** The gateway itself: attacks go through all of its guards, in the name of the caller and with the caller's keys. */
export class GatewayTarget implements Target {
  readonly name = 'gateway'
  readonly #call: Context<unknown>['call']
  readonly #findings: CallFindings
  readonly #attack: GatewayAttack

  constructor({ call }: Pick<Context<unknown>, 'call'>, findings: CallFindings, attack: GatewayAttack) {
    this.#call = call
    this.#findings = findings
    this.#attack = attack
  }

  async ask(conversation: Conversation, { signal, maxCostUsd }: AskOptions): Promise<Asked> {
    const { as, ip, model, project, tags, credential, maxTokens, timeoutMs } = this.#attack
    const time = AbortSignal.timeout(timeoutMs)
    const request: ModelRequest = { ...conversation, model, max_tokens: maxTokens }
    const made = this.#call(request, {
      as,
      ip,
      source: 'redteam',
      skip: passedBy,
      signal: AbortSignal.any([signal, time]),
      ...(project !== undefined && { project }),
      ...(tags && { tags }),
      ...(credential && { credential }),
      ...(maxCostUsd !== undefined && { maxCostUsd }),
    })
    const ending = this.#findings.of(made)
    const said = await saidBy(made.reply.then(collect).then(saidOf), time)
    const { outcome, findings } = await ending
    signal.throwIfAborted()
    return { said, traceId: made.id, costNano: outcome?.cost?.totalNano ?? 0, findings }
  }
}

async function saidBy(answer: Promise<Said>, time: AbortSignal): Promise<Said> {
  try {
    return await answer
  } catch (error) {
    if (time.aborted) return tookTooLong
    return failureOf(error)
  }
}

/** Words by which providers say that they withhold an answer because of what was asked. */
const filtered = /content_(?:filter|policy)|safety|moderation_blocked/i

function failureOf(error: unknown): Said {
  if (isGatewayError(error) && error.type === 'content_blocked')
    return { kind: 'withheld', by: error.module ?? 'provider' }
  if (isUpstreamError(error) && error.native !== undefined && filtered.test(error.native))
    return { kind: 'withheld', by: 'provider' }
  const mayPass =
    isGatewayError(error) &&
    (error.code === 'rate_limited' || error.code === 'circuit_open' || error.type === 'timeout')
  const isDear = isGatewayError(error) && error.type === 'max_cost'
  const { code, message } = callProblem(error)
  return { kind: 'failed', code: isDear ? 'max_cost' : code, message, mayPass }
}
