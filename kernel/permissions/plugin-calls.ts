import { withTenant } from '../auth/tenants.ts'
import { Call, type Principal } from '../call/call.ts'
import type { Completion, ModelRequest, Operation } from '../call/canonical.ts'
import type { Ground } from '../call/exchange.ts'
import type { SettlementParts } from '../call/settle.ts'
import { type Stage, stages } from '../chain/hooks.ts'
import { type CallOptions, type CompleteOptions, callSources, type MadeCall } from '../contract/calls.ts'
import type { OwnKey } from '../contract/delivery.ts'
import { ModelCatalogue } from '../contract/models.ts'
import { badRequest, ClientGone, unauthorized } from '../errors.ts'
import { HookFault } from '../hook-fault.ts'
import { newId } from '../id.ts'
import type { Generation } from '../plugin/generation.ts'
import type { Chunk } from '../stream/chunk.ts'
import { collect } from '../stream/collect.ts'
import { costBound } from './cost-bound.ts'
import type { ModelCalls } from './outbound.ts'
import type { PluginBudget } from './plugin-budget.ts'
import { PluginExchange } from './plugin-exchange.ts'
import { StartPace } from './start-pace.ts'

interface Parts extends SettlementParts {
  readonly generation: () => Generation
  readonly budget: PluginBudget
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
    const { reply, settled } = this.#complete(plugin, usdPerDay, request, options, signal)
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
    const asked = this.#complete(plugin, usdPerDay, { ...request, stream: true }, options, signal)
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
  #complete(
    plugin: string,
    usdPerDay: number,
    request: ModelRequest,
    options: CompleteOptions,
    signal: AbortSignal,
  ): { readonly reply: PluginExchange['reply']; readonly settled: Promise<void> } {
    const { generation: live, budget } = this.#parts
    const { on, as = 'gateway', budgetUsd } = options
    if (as === 'caller' && !on) throw new HookFault(`${plugin} calls a model for a caller, and for no call`)
    const release = as === 'gateway' ? budget.reserve(plugin, usdPerDay, budgetUsd) : undefined
    const generation = live()
    const chain = generation.innerChain(plugin)
    const exchange = new PluginExchange({
      ...this.#parts,
      // A plugin's request may hold texts as they were before the guards, which no trace may show.
      ground: { ...groundOf(generation, chain), isPrivate: true },
      make: async () => callFor(plugin, request, options, generation.number),
      signals: [signal, options.signal, on?.signal],
      left: () => new HookFault(`the model call of ${plugin} was given up`),
    })
    const settled = exchange
      .run()
      .then((outcome) => release && outcome && budget.charge(plugin, outcome))
      .finally(release)
    settled.catch(() => {})
    return { reply: exchange.reply, settled }
  }

  call(plugin: string, request: ModelRequest, options: CallOptions, signal: AbortSignal): MadeCall {
    const { generation: live } = this.#parts
    const id = newId('tr_')
    const generation = live()
    const { skip = [], credential, maxCostUsd } = options
    const skipped = checkedSkips(skip, generation)
    const { services, rating } = generation
    const catalogue = services.get(ModelCatalogue) as ModelCatalogue | undefined
    const isUsual = skipped.length === 0 && !credential && maxCostUsd === undefined
    const chain = isUsual
      ? generation.chain
      : generation.chainFor({
          skip: skipped,
          ownKey: credential && ownKeyOf(credential),
          before: maxCostUsd === undefined ? undefined : costBound(maxCostUsd, rating, catalogue),
        })
    const exchange = new PluginExchange({
      ...this.#parts,
      ground: groundOf(generation, chain),
      make: async () => {
        const turn = this.#pace.turn()
        if (turn) await turn
        const call = callAs(
          await this.#principal(options.as, generation),
          id,
          request,
          options,
          generation.number,
        )
        for (const module of skipped) call.trace.note(module, 'skipped', { by: plugin })
        return call
      },
      signals: [signal, options.signal],
      left: () => new ClientGone(),
    })
    const outcome = exchange.run()
    return { id, reply: exchange.reply, outcome }
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

/** These grant access, limit and inspect: nothing passes them by. */
const guarding: readonly Stage[] = stages.slice(0, stages.indexOf('shape'))

/** The modules to pass by that are there. Refuses those that guard. */
function checkedSkips(skip: readonly string[], { entries }: Generation): readonly string[] {
  const met = skip.flatMap((id) => entries.find((entry) => entry.id.split('/')[0] === id) ?? [])
  const guard = met.find(({ stage }) => guarding.includes(stage))
  if (guard)
    throw badRequest(`The module ${guard.id} guards calls, and none passes it by.`, { param: 'skip' })
  return met.map(({ id }) => id.split('/')[0]!)
}

const ownKeyOf = ({ provider, key }: NonNullable<CallOptions['credential']>): OwnKey => ({
  provider,
  key: { id: newId('key_'), secret: key, hint: '', weight: 1, owner: 'user' },
})

/** The wires that a client would call by. */
const wires: Readonly<Record<Operation, string>> = {
  chat: 'chat',
  completion: 'completions',
  embedding: 'embeddings',
}

function callAs(
  principal: Principal,
  id: string,
  request: ModelRequest,
  options: CallOptions,
  generation: number,
): Call {
  const { source = 'plugin', project = 'default', tags = {}, session, parent, ip = '', credential } = options
  if (!callSources.includes(source)) throw badRequest(`There is no source ${source}.`, { param: 'source' })
  const operation = operationOf(request)
  const context = {
    project,
    tags,
    sessionId: session,
    ip,
    provider: credential?.provider,
    headers: {},
    source,
    generation,
  }
  const call = new Call({ id, operation, wire: wires[operation], principal, request, context })
  if (parent !== undefined) call.trace.facts.parent_id = parent
  return call
}

function callFor(
  plugin: string,
  request: ModelRequest,
  { on, as }: CompleteOptions,
  generation: number,
): Call {
  const tenant = on?.principal.tenant
  const own: Principal = { type: 'admin', keyId: `plugin:${plugin}`, userId: undefined, plan: 'free', tenant }
  const call = new Call({
    id: newId('tr_'),
    operation: operationOf(request),
    wire: '',
    principal: (as === 'caller' ? on?.principal : undefined) ?? own,
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
  })
  if (on) call.trace.facts.parent_id = on.id
  return call
}

function operationOf({ input, prompt }: Omit<ModelRequest, 'stream'>): Operation {
  if (input !== undefined) return 'embedding'
  return prompt === undefined ? 'chat' : 'completion'
}

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
