import { z } from 'zod'
import { Events, type EventType, type Occurrence } from '../events.ts'
import type { Scope } from '../plugin/scope.ts'
import { outcomeOf } from './call-view.ts'
import type { GuestCalls } from './guest-calls.ts'
import type { Job, ToHost } from './messages.ts'

/** Events as a module in a worker has them: what it listens to is told to the other side, which passes it on. */
export class GuestEvents {
  readonly #events: Events
  readonly #scope: Scope
  readonly #calls: GuestCalls
  readonly #tell: (message: ToHost) => void

  constructor(
    scope: Scope,
    calls: GuestCalls,
    tell: (message: ToHost) => void,
    onError: (error: unknown, event: string) => void,
  ) {
    this.#events = new Events(onError)
    this.#scope = scope
    this.#calls = calls
    this.#tell = tell
  }

  on<T>(type: EventType<T>, listener: (data: T, occurrence: Occurrence<T>) => unknown): void {
    this.#scope.own(this.#events.on(type, listener))
    this.#tell({ kind: 'listen', name: type.name })
  }

  onAny(listener: (data: unknown, occurrence: Occurrence) => unknown): void {
    this.#scope.own(this.#events.onAny(listener))
    this.#tell({ kind: 'listen', name: undefined })
  }

  emit<T>({ name, alias, description }: EventType<T>, data: T): void {
    this.#tell({ kind: 'emit', event: { name, alias, description, data } })
  }

  hear({ event, call, outcome }: Extract<Job, { do: 'event' }>): void {
    const { data, ...type } = event
    const seen = call && this.#calls.callOf(call)
    const known = seen && this.#calls.find(seen.id)
    const all = known
      ? { ...(data as object), call: seen, ...(outcome && { outcome: outcomeOf(outcome, known.errors) }) }
      : data
    this.#events.emit({ ...type, schema: z.unknown() }, all)
  }
}
