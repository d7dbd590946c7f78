import { z } from 'zod'
import { Call } from '../kernel/call/call.ts'
import type { Outcome } from '../kernel/call/outcome.ts'
import type { Context } from '../kernel/contract/context.ts'
import { receive, type SentEvent, sentOf } from '../kernel/events/happening.ts'
import type { Occurrence } from '../kernel/events.ts'
import type { EventKind } from './protocol.ts'
import type { RemoteModule } from './remote-module.ts'

/** Events on their way to and from a module in a worker, which itself knows who listens to what. */
export class RemoteEvents {
  readonly #context: Context<unknown>
  readonly #module: RemoteModule
  /** The names of events that workers of the module have listened to; `undefined` stands for all. */
  readonly #heard = new Set<string | undefined>()
  readonly #declared = new Set<string>()

  constructor(context: Context<unknown>, module: RemoteModule) {
    this.#context = context
    this.#module = module
  }

  /** The worker wants events of this name, or all. One that comes in the place of another says it again. */
  listen(name: string | undefined): void {
    if (this.#heard.has(name)) return
    this.#heard.add(name)
    const pass = (_: unknown, occurrence: Occurrence): Promise<void> => this.#pass(name, occurrence)
    if (name === undefined) this.#context.onAny(pass)
    else this.#context.on({ name, alias: undefined, description: '', schema: z.unknown() }, pass)
  }

  declare({ schema, ...kind }: EventKind): void {
    if (this.#declared.has(kind.name)) return
    this.#declared.add(kind.name)
    this.#context.event({ ...kind, schema: z.fromJSONSchema(schema) })
  }

  emit(event: SentEvent): void {
    const { type, data, cause: id, actor } = receive(event)
    this.#context.emit(type, data, { cause: { id, actor } })
  }

  /** Rejects with what goes wrong, for the log. */
  async #pass(name: string | undefined, occurrence: Occurrence): Promise<void> {
    const { worker } = this.#module
    if (!worker.isReady) return this.#module.revive()
    if (name !== undefined && this.#heard.has(undefined)) return
    const { call, outcome, ...rest } = (occurrence.data ?? {}) as { call?: unknown; outcome?: Outcome }
    if (!(call instanceof Call)) return worker.call('hear', sentOf(occurrence))
    const event = { ...sentOf(occurrence), data: rest }
    await this.#module.run('event', call, (known) => ({
      event,
      ...(outcome && { outcome: known.viewOfOutcome(outcome) }),
    }))
  }
}
