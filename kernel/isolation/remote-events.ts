import { z } from 'zod'
import { Call } from '../call/call.ts'
import type { Outcome } from '../call/outcome.ts'
import type { Context } from '../contract/plugin.ts'
import type { EventType, Occurrence } from '../events.ts'
import { viewOfOutcome } from './call-view.ts'
import type { EventView } from './protocol.ts'
import type { RemoteCall } from './remote-calls.ts'
import type { RemoteModule } from './remote-module.ts'

/** Events on their way to and from a module in a worker. */
export class RemoteEvents {
  readonly #context: Context<unknown>
  readonly #module: RemoteModule
  /** Names that are listened to on this side; `undefined` stands for all. */
  readonly #heard = new Set<string | undefined>()
  /** Those of them that the worker which is there wants. */
  readonly #wanted = new Set<string | undefined>()

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

  emit({ data, ...type }: EventView): void {
    this.#context.emit(typeOf(type), data)
  }

  /** The worker is lost; the next one says what it wants. */
  clear(): void {
    this.#wanted.clear()
  }

  /** Rejects with what goes wrong, for the log. */
  async #pass(name: string | undefined, { type, data }: Occurrence): Promise<void> {
    if (!this.#wanted.has(name)) return this.#module.revive()
    if (name !== undefined && this.#wanted.has(undefined)) return
    const { alias, description } = type
    const { call, outcome, ...rest } = (data ?? {}) as { call?: unknown; outcome?: Outcome }
    const event: EventView = { name: type.name, alias, description, data: rest }
    const { grants, worker } = this.#module
    if (!(call instanceof Call)) return worker.call('hear', { ...event, data })
    const about = ({ errors }: RemoteCall) => ({
      event,
      ...(outcome && { outcome: viewOfOutcome(outcome, errors, grants.reads) }),
    })
    await this.#module.run('event', call, about, outcome !== undefined)
  }
}

const typeOf = (type: Omit<EventView, 'data'>): EventType<unknown> => ({ ...type, schema: z.unknown() })
