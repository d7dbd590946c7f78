import type { z } from 'zod'
import { HookFault } from '../kit/work/hook-fault.ts'
import type { Transaction } from '../storage/index.ts'
import { EventCatalogue } from './events/catalogue.ts'
import { type EventActor, Happening, noOptions } from './events/happening.ts'
import type { Outbox } from './events/outbox.ts'

/** A kind of event: one canonical dotted name, the second name some subscribers know it by, and its payload. */
export interface EventType<T> {
  readonly name: string
  /** The name in the older, underscored set, where that set has the event. */
  readonly alias: string | undefined
  readonly schema: z.ZodType<T>
  readonly description: string
}

export interface Occurrence<T = unknown> {
  /** The event's id, such as `evt_01K…`; the same each time that it is delivered. */
  readonly id: string
  readonly type: EventType<T>
  /** ISO 8601, UTC. */
  readonly timestamp: string
  readonly actor: EventActor
  /** Id of the call, the request or the occurrence that it comes from; undefined where it comes from none. */
  readonly cause: string | undefined
  readonly data: T
}

type Listener<T> = (data: T, occurrence: Occurrence<T>) => unknown

/** Declares an event. Names are facts past or conditions: `alert.fired`, `spend.cap_exceeded`. */
export function defineEvent<T>(
  name: string,
  schema: z.ZodType<T>,
  options: { readonly alias?: string; readonly description: string },
): EventType<T> {
  return { name, alias: options.alias, schema, description: options.description }
}

interface EventParts {
  /** Takes what a listener throws. */
  readonly failed: (error: unknown, event: string) => void
  /** Takes what a plugin emitted that it may not, once for each event. */
  readonly misused?: (fault: HookFault, event: string) => void
  /** Gets every occurrence that happens here as well. */
  readonly onward?: ((occurrence: Occurrence) => void) | undefined
  /** Keeps the events of transactions until they are delivered; without it, transactions emit nothing. */
  readonly outbox?: Outbox
  /** Whether a plugin that emits what it may not gets an error. */
  readonly strict?: boolean
}

/** Delivers events inside the process. A listener that throws harms neither the emitter nor its neighbours. */
export class Events {
  readonly catalogue = new EventCatalogue()
  readonly #byName = new Map<string, Set<Listener<never>>>()
  readonly #all = new Set<Listener<unknown>>()
  readonly #misused = new Set<string>()
  readonly #parts: EventParts

  constructor(parts: EventParts) {
    this.#parts = parts
  }

  on<T>(type: EventType<T>, listener: Listener<T>): () => void {
    const listeners = this.#byName.get(type.name) ?? new Set()
    this.#byName.set(type.name, listeners)
    listeners.add(listener as Listener<never>)
    return () => {
      listeners.delete(listener as Listener<never>)
      if (listeners.size === 0 && this.#byName.get(type.name) === listeners) this.#byName.delete(type.name)
    }
  }

  /** Every event, once, for webhooks, logs and live views. */
  onAny(listener: Listener<unknown>): () => void {
    this.#all.add(listener)
    return () => this.#all.delete(listener)
  }

  /** Has a plugin emit events of a type. Returns what ends that. */
  declare(type: EventType<unknown>, by: string): () => void {
    return this.catalogue.declare(type, by)
  }

  /** Tells listeners at once, or, with a transaction, at least once after that is on disk. */
  emit<T>(type: EventType<T>, data: T, options = noOptions): void {
    if (options.by !== undefined && !this.#mayEmit(type.name, data, options.by)) return
    const { in: transaction } = options
    if (transaction) {
      this.#keep(transaction, new Happening(type, data, options))
      return
    }
    const { onward } = this.#parts
    if (!onward && !this.isHeard(type)) return
    const occurrence = new Happening(type, data, options)
    onward?.(occurrence)
    void this.tell(occurrence)
  }

  /** Resolves when an occurrence is on disk, to be delivered at least once. An event without listeners is not kept. */
  async emitDurably<T>(type: EventType<T>, data: T, options = noOptions): Promise<void> {
    if (this.isHeard(type)) await this.#parts.outbox?.add(new Happening(type, data, options))
  }

  isHeard({ name }: Pick<EventType<never>, 'name'>): boolean {
    return this.#all.size > 0 || this.#byName.has(name)
  }

  /** Delivers an occurrence; the returned promise settles with the last listener, and never rejects. */
  tell(occurrence: Occurrence): Promise<void> | undefined {
    const waiting: Promise<unknown>[] = []
    const listeners = this.#byName.get(occurrence.type.name)
    if (listeners)
      for (const listener of listeners) this.#call(listener as Listener<unknown>, occurrence, waiting)
    for (const listener of this.#all) this.#call(listener, occurrence, waiting)
    return waiting.length > 0 ? Promise.all(waiting).then(() => {}) : undefined
  }

  #call(listener: Listener<unknown>, occurrence: Occurrence, waiting: Promise<unknown>[]): void {
    try {
      const result = listener(occurrence.data, occurrence)
      if (result instanceof Promise) waiting.push(this.#heard(result, occurrence))
    } catch (error) {
      this.#parts.failed(error, occurrence.type.name)
    }
  }

  /** Apart, as a function that holds a closure costs each listener a context, also where nothing takes its time. */
  #heard(result: Promise<unknown>, { type }: Occurrence): Promise<unknown> {
    return result.catch((error) => this.#parts.failed(error, type.name))
  }

  #keep(transaction: Transaction, occurrence: Occurrence): void {
    const { outbox } = this.#parts
    if (!outbox) throw new HookFault('events cannot be emitted in a transaction here')
    outbox.put(transaction, occurrence)
  }

  /** Undeclared events are delivered, since no schema says what they should be; data that does not fit its schema is not. */
  #mayEmit(event: string, data: unknown, by: string): boolean {
    const problem = this.catalogue.problemOf(event, data)
    if (!problem) return true
    const fault = new HookFault(`${by} emitted ${event}, ${problem}`)
    if (this.#parts.strict) throw fault
    if (!this.#misused.has(event)) this.#parts.misused?.(fault, event)
    this.#misused.add(event)
    return !this.catalogue.has(event)
  }
}

/** What plugins have of the events. */
export type EventBus = Pick<Events, 'declare' | 'emit' | 'on' | 'onAny'>
