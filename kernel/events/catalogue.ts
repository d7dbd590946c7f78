import { z } from 'zod'
import type { EventType } from '../events.ts'

/** A type of events, and the ids of the plugins that emit it. */
export interface DeclaredEvent {
  readonly type: EventType<unknown>
  readonly emittedBy: readonly string[]
}

/** The types of events, as their emitters have declared them. */
export class EventCatalogue {
  readonly #declared = new Map<string, { readonly type: EventType<unknown>; readonly by: string }[]>()

  /** Of several with one name, as while a plugin is replaced, the last holds. Returns what takes it out again. */
  declare(type: EventType<unknown>, by: string): () => void {
    const own = { type, by }
    this.#declared.set(type.name, [...(this.#declared.get(type.name) ?? []), own])
    return () => {
      const left = (this.#declared.get(type.name) ?? []).filter((other) => other !== own)
      if (left.length > 0) this.#declared.set(type.name, left)
      else this.#declared.delete(type.name)
    }
  }

  has(name: string): boolean {
    return this.#declared.has(name)
  }

  /** In the order of their names. */
  list(): DeclaredEvent[] {
    return [...this.#declared.values()]
      .map((all) => ({ type: all.at(-1)!.type, emittedBy: [...new Set(all.map(({ by }) => by))].sort() }))
      .sort((a, b) => (a.type.name < b.type.name ? -1 : 1))
  }

  /** Why this is no payload of such an event; undefined when it is one. */
  problemOf(name: string, data: unknown): string | undefined {
    const type = this.#declared.get(name)?.at(-1)?.type
    if (!type) return 'which no plugin declares: call event(type) in setup'
    const { error } = type.schema.safeParse(data)
    return (
      error && `whose data does not fit its schema: ${z.prettifyError(error).replaceAll(/\s*\n\s*/g, ' ')}`
    )
  }
}
