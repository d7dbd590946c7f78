import { z } from 'zod'
import type { EventBus } from '../chain/read-only.ts'
import { Events, type EventType, type Occurrence } from '../events.ts'
import type { Log } from '../log.ts'
import { outcomeOf } from './call-view.ts'
import type { GuestCall, Host } from './guest-calls.ts'
import type { CallHooks, EventView } from './protocol.ts'

type Listener<T> = (data: T, occurrence: Occurrence<T>) => unknown

/** Events as a module in a worker has them: what it listens to is told to the gateway, which passes it on. */
export class GuestEvents implements EventBus {
  readonly #heard: Events
  readonly #host: () => Host
  readonly #log: Log

  constructor(host: () => Host, log: Log) {
    this.#heard = new Events((err, event) => log.error({ err, event }, 'a listener failed'))
    this.#host = host
    this.#log = log
  }

  on<T>(type: EventType<T>, listener: Listener<T>): () => void {
    this.#host().notify('listen', type.name)
    return this.#heard.on(type, listener)
  }

  onAny(listener: Listener<unknown>): () => void {
    this.#host().notify('listen', undefined)
    return this.#heard.onAny(listener)
  }

  emit<T>({ name, alias, description }: EventType<T>, data: T): void {
    const emitted = this.#host().call('emit', { name, alias, description, data })
    emitted.catch((err) => this.#log.error({ err, event: name }, 'an event cannot cross from a worker'))
  }

  hear({ data, ...type }: EventView): void {
    this.#heard.emit({ ...type, schema: z.unknown() }, data)
  }

  /** Hears an event about a call, which was left out of its data. */
  hearOf(call: unknown, { event, outcome }: Parameters<CallHooks['event']>[0], { errors }: GuestCall): void {
    const about = { call, ...(outcome && { outcome: outcomeOf(outcome, errors) }) }
    this.hear({ ...event, data: { ...(event.data as object), ...about } })
  }
}
