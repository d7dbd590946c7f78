import type { Counters } from '../../storage/index.ts'
import { Call } from '../call/call.ts'
import { Cancel, over } from '../call/cancel.ts'
import type { Completion, ModelRequest, Operation } from '../call/canonical.ts'
import { CallSettled, CallStarted, type Outcome, withoutBody } from '../call/outcome.ts'
import { outcomeOf } from '../call/settle.ts'
import type { CompleteOptions } from '../contract/plugin.ts'
import { isGatewayError } from '../errors.ts'
import type { Events } from '../events.ts'
import { HookFault } from '../hook-fault.ts'
import { newId } from '../id.ts'
import { nanoOf, usdOf } from '../money.ts'
import type { Generation } from '../plugin/generation.ts'
import { collect } from '../stream/collect.ts'
import type { ModelCalls } from './outbound.ts'

interface Parts {
  readonly generation: () => Generation
  readonly events: Events
  /** What plugins have spent, by day and plugin, in nano-dollars. */
  readonly spent: Counters
}

/**
 * Model calls that plugins make for themselves: through the stages that route and deliver, without the others, so that
 * no module meets itself. Traced and settled like any call, under the plugin's name, and bounded by its budget.
 */
export class PluginCalls implements ModelCalls {
  readonly #parts: Parts
  /** What calls under way may still cost, by plugin, in nano-dollars. */
  readonly #reserved = new Map<string, number>()
  /** The dearest call so far, by plugin: what the next may cost, where nobody says. */
  readonly #dearest = new Map<string, number>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async complete(
    plugin: string,
    usdPerDay: number,
    request: ModelRequest,
    options: CompleteOptions,
    signal: AbortSignal,
  ): Promise<Completion> {
    const release = this.#reserve(plugin, usdPerDay, options.budgetUsd)
    try {
      const call = callOf(plugin, request, options, this.#parts.generation().number)
      const outcome = await this.#run(plugin, call, [signal, options.signal, options.on?.signal])
      this.#charge(plugin, outcome)
      if (outcome.error) throw failureOf(plugin, outcome.error)
      return outcome.body()!
    } finally {
      release()
    }
  }

  async #run(plugin: string, call: Call, signals: readonly (AbortSignal | undefined)[]): Promise<Outcome> {
    const { generation, events } = this.#parts
    const lease = generation()
    lease.lease()
    const stop = (): void => call.cancel.abort(new HookFault(`the model call of ${plugin} was given up`))
    for (const signal of signals) signal?.addEventListener('abort', stop, { once: true })
    const chain = lease.innerChain(plugin)
    let body: Completion | undefined
    let error: unknown
    try {
      if (signals.some((signal) => signal?.aborted)) stop()
      events.emit(CallStarted, { call }, { cause: call })
      body = await collect(await chain.run(call))
    } catch (thrown) {
      error = thrown
    }
    try {
      const finishReason = body?.choices?.[0]?.finish_reason ?? undefined
      const status = error === undefined ? 200 : isGatewayError(error) ? error.status : 500
      const outcome = outcomeOf(
        call,
        { status, error, finishReason, chunks: 0, body: () => body },
        lease.rating,
      )
      // What a plugin asks may hold texts as they were before the guards, which no trace may show.
      call.trace.mayRecord(undefined)
      await chain.settled(outcome, call)
      events.emit(CallSettled, { outcome: withoutBody(outcome), call: call.redacted }, { cause: call })
      return outcome
    } finally {
      for (const signal of signals) signal?.removeEventListener('abort', stop)
      call.cancel.abort(over)
      lease.release()
    }
  }

  #reserve(plugin: string, usdPerDay: number, budgetUsd: number | undefined): () => void {
    const reserved = this.#reserved.get(plugin) ?? 0
    const wanted = budgetUsd === undefined ? (this.#dearest.get(plugin) ?? 0) : nanoOf(budgetUsd)
    const spent = this.#parts.spent.get(nameOf(plugin))
    const budget = nanoOf(usdPerDay)
    if (spent >= budget || spent + reserved + wanted > budget) {
      throw new HookFault(
        `${plugin} has used $${usdOf(spent)} of the $${usdPerDay} a day that its manifest asks for model calls, and ` +
          'the rest is not enough for another',
      )
    }
    this.#reserved.set(plugin, reserved + wanted)
    return () => this.#reserved.set(plugin, (this.#reserved.get(plugin) ?? 0) - wanted)
  }

  #charge(plugin: string, { cost, usage, provider, model }: Outcome): void {
    const nano = cost?.totalNano ?? 0
    if (nano > (this.#dearest.get(plugin) ?? 0)) this.#dearest.set(plugin, nano)
    if (nano > 0) this.#parts.spent.add(nameOf(plugin), nano)
    if (!cost && usage.input + usage.output > 0) {
      throw new HookFault(
        `${provider}/${model} has no price, so no budget can hold what ${plugin} spends there: give it one under ` +
          'prices in service.yaml, 0 if it costs nothing',
      )
    }
  }
}

/** By day, in UTC. */
const nameOf = (plugin: string): string => `${new Date().toISOString().slice(0, 10)} ${plugin}`

function callOf(
  plugin: string,
  { stream: _, stream_options: __, ...request }: ModelRequest,
  { on }: CompleteOptions,
  generation: number,
): Call {
  const call = new Call({
    id: newId('tr_'),
    operation: operationOf(request),
    wire: '',
    principal: {
      type: 'admin',
      keyId: `plugin:${plugin}`,
      userId: undefined,
      plan: 'free',
      tenant: on?.principal.tenant,
    },
    request,
    context: {
      project: on?.context.project ?? 'default',
      tags: on?.context.tags ?? {},
      sessionId: undefined,
      ip: '',
      provider: undefined,
      headers: {},
      source: `plugin:${plugin}`,
      generation,
    },
    cancel: new Cancel(),
  })
  if (on) call.trace.facts.parent_id = on.id
  return call
}

function operationOf({ input, prompt }: Omit<ModelRequest, 'stream'>): Operation {
  if (input !== undefined) return 'embedding'
  return prompt === undefined ? 'chat' : 'completion'
}

function failureOf(plugin: string, cause: Error): Error {
  return new Error(`a model call of ${plugin} failed: ${cause.message}`, { cause })
}
