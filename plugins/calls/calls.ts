import {
  type CallOptions,
  type Chunk,
  type CompleteOptions,
  type Completion,
  type Generation,
  type Ground,
  HookFault,
  type MadeCall,
  type ModelCalls,
  type ModelRequest,
  newId,
  type Principal,
  type Reply,
  type SettlementParts,
  unauthorized,
  withTenant,
} from '#kernel'
import { collect } from '#kit'
import type { Budgets } from './budget.ts'
import { callAs, callFor } from './call.ts'
import { chainFor } from './chain.ts'
import { runInnerCall } from './inner-exchange.ts'
import { StartPace } from './start-pace.ts'

interface Parts extends SettlementParts {
  readonly generation: () => Generation
  readonly budgets: Budgets
  /** The principal of a key; undefined if it no longer works. */
  readonly principalOf: (keyId: string) => Promise<Principal | undefined>
}

/** Model calls that plugins make, for themselves and in the name of others. Traced and settled like any call. */
export class PluginCalls implements ModelCalls {
  readonly #parts: Parts
  /** Hundreds of calls that a job makes at once would stand before those of clients; this way clients come between them. */
  readonly #pace = new StartPace(startGapMs)

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async complete(
    plugin: string,
    usdPerDay: number,
    { stream: _, stream_options: __, ...request }: ModelRequest,
    options: CompleteOptions,
    signal: AbortSignal,
  ): Promise<Completion> {
    const { reply, settled } = await this.#complete(plugin, usdPerDay, request, options, signal)
    try {
      const body = await collect(await reply)
      await settled
      return body
    } catch (error) {
      await settled
      throw failureOf(plugin, error)
    }
  }

  async completeStreamed(
    plugin: string,
    usdPerDay: number,
    request: ModelRequest,
    options: CompleteOptions,
    signal: AbortSignal,
  ): Promise<AsyncIterable<readonly Chunk[]>> {
    const asked = await this.#complete(plugin, usdPerDay, { ...request, stream: true }, options, signal)
    try {
      const reply = await asked.reply
      return reply.kind === 'stream' ? charged(reply.chunks, asked.settled) : never()
    } catch (error) {
      await asked.settled
      throw failureOf(plugin, error)
    }
  }

  /**
   * A call for the plugin itself: through the stages that route and deliver, without the others, so that no module meets
   * itself. `settled` rejects when what it cost is in no budget.
   */
  async #complete(
    plugin: string,
    usdPerDay: number,
    request: ModelRequest,
    options: CompleteOptions,
    signal: AbortSignal,
  ): Promise<{ readonly reply: Promise<Reply>; readonly settled: Promise<void> }> {
    const { generation: live, budgets } = this.#parts
    const { on, after, as = 'gateway', budgetUsd } = options
    if (as === 'caller' && !(on ?? after))
      throw new HookFault(`${plugin} calls a model for a caller, and for no call`)
    const reserved = as === 'gateway' ? await budgets.reserve(plugin, usdPerDay, budgetUsd) : undefined
    const generation = live()
    const chain = generation.innerChain(plugin)
    const { reply, outcome } = runInnerCall({
      ...this.#parts,
      // A plugin's request may hold texts as they were before the guards, which no trace may show.
      ground: { ...groundOf(generation, chain), isPrivate: true },
      make: async () => callFor(plugin, request, options, generation.number),
      signals: [signal, options.signal, on?.signal],
      left: () => new HookFault(`the model call of ${plugin} was given up`),
    })
    const settled = outcome
      .then((ended) => reserved && ended && budgets.charge(plugin, reserved, ended))
      .finally(() => reserved && budgets.release(reserved))
    settled.catch(() => {})
    return { reply, settled }
  }

  call(plugin: string, request: ModelRequest, options: CallOptions, signal: AbortSignal): MadeCall {
    const id = newId('tr_')
    const generation = this.#parts.generation()
    const { chain, skipped } = chainFor(generation, options)
    const made = runInnerCall({
      ...this.#parts,
      ground: groundOf(generation, chain),
      make: async () => {
        const turn = this.#pace.turn()
        if (turn) await turn
        const principal = await this.#principal(options.as, generation)
        const call = callAs(principal, id, request, options, generation.number)
        for (const module of skipped) call.trace.note(module, 'skipped', { by: plugin })
        return call
      },
      signals: [signal, options.signal],
    })
    return { id, ...made }
  }

  /** The principal as it is now: a key that was revoked makes no calls, and none that never was. */
  async #principal({ keyId, userId }: Principal, { tenants }: Generation): Promise<Principal> {
    const found = await this.#parts.principalOf(keyId)
    if (found?.userId === userId && found) return withTenant(found, tenants)
    throw unauthorized(
      'The key that this call is made for does not work any more: it is revoked, expired or deleted.',
    )
  }
}

/** At 100 µs for a call, a job has a fortieth of a core. */
const startGapMs = 4

const groundOf = (generation: Generation, chain: Ground['chain']): Ground => ({
  chain,
  rating: generation.rating,
  lease: () => generation.lease(),
  release: () => generation.release(),
})

/** A stream, and at its end what it cost. */
async function* charged(
  chunks: AsyncIterable<readonly Chunk[]>,
  settled: Promise<void>,
): AsyncGenerator<readonly Chunk[]> {
  try {
    yield* chunks
  } finally {
    await settled
  }
}

/** Delivery streams what was asked as a stream. */
function never(): never {
  throw new HookFault('the answer of a streamed call is none')
}

function failureOf(plugin: string, thrown: unknown): Error {
  if (thrown instanceof HookFault) return thrown
  const cause = thrown instanceof Error ? thrown : new Error(String(thrown))
  return new Error(`a model call of ${plugin} failed: ${cause.message}`, { cause })
}
