import { z } from 'zod'
import { Call } from '../call/call.ts'
import type { Outcome } from '../call/outcome.ts'
import type { Context } from '../contract/plugin.ts'
import { factsOf } from '../events/happening.ts'
import type { EventType, Occurrence } from '../events.ts'
import { viewOfOutcome } from './call-view.ts'
import type { EventKind, EventView } from './protocol.ts'
import type { RemoteCall } from './remote-calls.ts'
import type { RemoteModule } from './remote-module.ts'

/** Events on their way to and from a module in a worker. */
export class RemoteEvents {
  readonly #context: Context<unknown>
  readonly #module: RemoteModule
  /** Names that are listened to on this side; `undefined` stands for all. */
  readonly #heard = new Set<string | undefined>()
  /** The events among them that the current worker wants. */
  readonly #wanted = new Set<string | undefined>()
  readonly #declared = new Set<string>()

  constructor(context: Context<unknown>, module: RemoteModule) {
    this.#context = context
    this.#module = module
  }

  /** The worker wants events of this name, or all. */
  listen(name: string | undefined): void {
    this.#wanted.add(name)
    if (this.#heard.has(name)) return
    this.#heard.add(name)
    const pass = (_: unknown, occurrence: Occurrence): Promise<void> => this.#pass(name, occurrence)
    if (name === undefined) this.#context.onAny(pass)
    else this.#context.on(typeOf({ name, alias: undefined, description: '' }), pass)
  }

  /** A worker that comes in the place of another says it again. */
  declare({ schema, ...kind }: EventKind): void {
    if (this.#declared.has(kind.name)) return
    this.#declared.add(kind.name)
    this.#context.event({ ...kind, schema: z.fromJSONSchema(schema) })
  }

  emit({ data, cause, ...type }: EventView): void {
    this.#context.emit(typeOf(type), data, { cause })
  }

  /** The worker is lost; the next one says what it wants. */
  clear(): void {
    this.#wanted.clear()
  }

  /** Rejects with what goes wrong, for the log. */
  async #pass(name: string | undefined, occurrence: Occurrence): Promise<void> {
    const { type, data } = occurrence
    if (!this.#wanted.has(name)) return this.#module.revive()
    if (name !== undefined && this.#wanted.has(undefined)) return
    const { alias, description } = type
    const { call, outcome, ...rest } = (data ?? {}) as { call?: unknown; outcome?: Outcome }
    const facts = { ...factsOf(occurrence), data: undefined }
    const event: EventView = { name: type.name, alias, description, data: rest, facts }
    const { grants, worker } = this.#module
    if (!(call instanceof Call)) return worker.call('hear', { ...event, data })
    const about = (known: RemoteCall) => ({
      event,
      ...(outcome && { outcome: viewOfOutcome(outcome, known, grants.reads) }),
    })
    await this.#module.run('event', call, about)
  }
}

const typeOf = (type: Pick<EventView, 'name' | 'alias' | 'description'>): EventType<unknown> => ({
  ...type,
  schema: z.unknown(),
})
