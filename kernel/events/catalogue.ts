import { z } from 'zod'
import { LastAdded } from '../../kit/last-added.ts'
import type { EventType } from '../events.ts'

/** A type of events, and the ids of the plugins that emit it. */
export interface DeclaredEvent {
  readonly type: EventType<unknown>
  readonly emittedBy: readonly string[]
}

/** The types of events, as their emitters have declared them. */
export class EventCatalogue {
  readonly #declared = new LastAdded<{ readonly type: EventType<unknown>; readonly by: string }>()

  /** Returns what takes it out again. */
  declare(type: EventType<unknown>, by: string): () => void {
    return this.#declared.add(type.name, { type, by })
  }

  has(name: string): boolean {
    return this.#declared.get(name) !== undefined
  }

  /** In the order of their names. */
  list(): DeclaredEvent[] {
    return this.#declared.lists
      .map((all) => ({ type: all.at(-1)!.type, emittedBy: [...new Set(all.map(({ by }) => by))].sort() }))
      .sort((a, b) => (a.type.name < b.type.name ? -1 : 1))
  }

  /** Why this is no payload of such an event; undefined when it is one. */
  problemOf(name: string, data: unknown): string | undefined {
    const type = this.#declared.get(name)?.type
    if (!type) return 'which no plugin declares: call event(type) in setup'
    const { error } = type.schema.safeParse(data)
    return (
      error && `whose data does not fit its schema: ${z.prettifyError(error).replaceAll(/\s*\n\s*/g, ' ')}`
    )
  }
}
