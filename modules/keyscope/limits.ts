import type { Principal } from '#kernel'
import type { Rules } from './rules.ts'

/** Under which rules one configuration of the module puts a caller. */
export type RulesOf = (principal: Principal) => Rules | undefined

/** What the configurations that hold say together, for who asks outside of calls. Their `when` speaks of calls only. */
export class Limits {
  readonly #all: { readonly id: string; readonly rulesOf: RulesOf }[] = []

  /** Adds one, or another for one that is being replaced; returns what takes it out. */
  add(id: string, rulesOf: RulesOf): () => void {
    const added = { id, rulesOf }
    this.#all.push(added)
    return () => void this.#all.splice(this.#all.indexOf(added), 1)
  }

  /** Whether all of them let a caller ask for a name that leads to this model. */
  mayReach(principal: Principal, asked: string, provider: string, model: string): boolean {
    const latest = new Map(this.#all.map(({ id, rulesOf }) => [id, rulesOf]))
    return [...latest.values()].every(
      (rulesOf) => rulesOf(principal)?.mayReach(asked, provider, model) ?? true,
    )
  }
}
