import type { GuardrailHit, TraceReader, TraceSummary } from '#kernel'
import { eachPastCall, findInTurns, KeptSets, type PastCallsOptions } from '#kit'
import { type CompiledRule, guardrailSet } from './compile.ts'
import { storedTexts } from './texts.ts'

interface RuleSums {
  readonly rule: CompiledRule
  calls: number
  matches: number
}

interface PastCall extends Pick<TraceSummary, 'id' | 'at'> {
  readonly hits: readonly GuardrailHit[]
}

/** Rules tried on the calls of the past that they are for: what they would have found in the bodies as these were stored. */
export class PastSearch {
  readonly sums: readonly RuleSums[]
  readonly examples: PastCall[] = []
  checked = 0
  withoutBodies = 0
  matched = 0
  readonly #byId: ReadonlyMap<string, RuleSums>
  readonly #sides: readonly (readonly ['request' | 'response', readonly CompiledRule[]])[]
  readonly #sets = new KeptSets(guardrailSet)
  readonly #mostExamples: number

  constructor(rules: readonly CompiledRule[], mostExamples: number) {
    this.sums = rules.map((rule) => ({ rule, calls: 0, matches: 0 }))
    this.#byId = new Map(this.sums.map((sums) => [sums.rule.id, sums]))
    this.#sides = [
      ['request', rules.filter(({ row }) => row.direction !== 'response')],
      ['response', rules.filter(({ row }) => row.direction !== 'request')],
    ]
    this.#mostExamples = mostExamples
  }

  /** Searches so many calls, newest first, and says whether its time sufficed for that. */
  run(traces: TraceReader, project: string | undefined, options: PastCallsOptions): Promise<boolean> {
    return eachPastCall(traces, { project }, options, (call) => this.#look(traces, call))
  }

  async #look(traces: TraceReader, call: TraceSummary): Promise<void> {
    const bodies = await traces.bodies(call.id)
    if (!bodies || bodies.erased) {
      this.withoutBodies += 1
      return
    }
    this.checked += 1
    const { id, at, project, user_id: userId, model_requested: model } = call
    const hits: GuardrailHit[] = []
    for (const [side, rules] of this.#sides) {
      const set = this.#sets.of(rules.filter((rule) => rule.holdsFor({ project, userId, model })))
      if (!set) continue
      for (const { text, place } of storedTexts(side, bodies[side]))
        for (const span of await findInTurns(set, text, place)) hits.push(...span.hits)
    }
    if (hits.length === 0) return
    this.matched += 1
    if (this.examples.length < this.#mostExamples) this.examples.push({ id, at, hits })
    for (const [ruleId, own] of Map.groupBy(hits, (hit) => hit.ruleId)) {
      const sums = this.#byId.get(ruleId)!
      sums.calls += 1
      sums.matches += own.length
    }
  }
}
