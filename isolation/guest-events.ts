import {
  type EmitOptions,
  Happening,
  noOptions,
  receive,
  type SentEvent,
  sentOf,
} from '../kernel/events/happening.ts'
import { type EventBus, Events, type EventType, type Occurrence } from '../kernel/events.ts'
import type { Log } from '../kernel/log.ts'
import { jsonSchemaOf } from '../kit/json/json-schema.ts'
import { HookFault } from '../kit/work/hook-fault.ts'
import type { Host } from './guest-calls.ts'

type Listener<T> = (data: T, occurrence: Occurrence<T>) => unknown

/** Events of a module in a worker: it names the events that it listens to, and the gateway passes those on. */
export class GuestEvents implements EventBus {
  readonly #heard: Events
  readonly #host: () => Host
  readonly #log: Log

  constructor(host: () => Host, log: Log) {
    this.#heard = new Events({ failed: (err, event) => log.error({ err, event }, 'a listener failed') })
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

  /** The gateway forgets it with the module. */
  declare({ name, alias, description, schema }: EventType<unknown>): () => void {
    this.#host().notify('declare', { name, alias, description, schema: jsonSchemaOf(schema) ?? {} })
    return () => {}
  }

  emit<T>(type: EventType<T>, data: T, options: EmitOptions = noOptions): void {
    if (options.in)
      throw new HookFault('a worker cannot emit in a transaction: give the module "isolation": "inproc"')
    const emitted = this.#host().call('emit', sentOf(new Happening(type, data, options)))
    emitted.catch((err) => this.#log.error({ err, event: type.name }, 'an event cannot cross from a worker'))
  }

  /** Hears an event. One about a call arrives with the call, and what it ended in, which were left out of its data. */
  async hear(event: SentEvent, about?: object): Promise<void> {
    const whole = about ? { ...event, data: { ...(event.data as object), ...about } } : event
    await this.#heard.tell(receive(whole))
  }
}
