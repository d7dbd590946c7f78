import type { z } from 'zod'

/** A kind of event: one canonical dotted name, the second name some subscribers know it by, and its payload. */
export interface EventType<T> {
  readonly name: string
  /** The name in the older, underscored set, where that set has the event. */
  readonly alias: string | undefined
  readonly schema: z.ZodType<T>
  readonly description: string
}

export interface Occurrence<T = unknown> {
  readonly type: EventType<T>
  /** ISO 8601, UTC. */
  readonly timestamp: string
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

/** An occurrence whose time is put into words only for who reads it: some events happen with every call. */
class Happening<T> implements Occurrence<T> {
  readonly type: EventType<T>
  readonly data: T
  readonly #at = Date.now()

  constructor(type: EventType<T>, data: T) {
    this.type = type
    this.data = data
  }

  get timestamp(): string {
    return new Date(this.#at).toISOString()
  }
}

/** Delivers events inside the process. A listener that throws harms neither the emitter nor its neighbours. */
export class Events {
  readonly #byName = new Map<string, Set<Listener<never>>>()
  readonly #all = new Set<Listener<unknown>>()
  readonly #onError: (error: unknown, event: string) => void
  readonly #onward: ((type: EventType<unknown>, data: unknown) => void) | undefined

  /** `onward` is told of every event as well. */
  constructor(
    onError: (error: unknown, event: string) => void,
    onward?: (type: EventType<unknown>, data: unknown) => void,
  ) {
    this.#onError = onError
    this.#onward = onward
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

  emit<T>(type: EventType<T>, data: T): void {
    this.#onward?.(type as EventType<unknown>, data)
    const listeners = this.#byName.get(type.name)
    if (!listeners && this.#all.size === 0) return
    const occurrence = new Happening(type, data)
    if (listeners) for (const listener of listeners) this.#call(listener as Listener<T>, occurrence)
    for (const listener of this.#all) this.#call(listener as Listener<T>, occurrence)
  }

  #call<T>(listener: Listener<T>, occurrence: Occurrence<T>): void {
    try {
      const result = listener(occurrence.data, occurrence)
      if (result instanceof Promise) result.catch((error) => this.#onError(error, occurrence.type.name))
    } catch (error) {
      this.#onError(error, occurrence.type.name)
    }
  }
}
