import type { CircuitState } from '#kernel'
import { ensure } from '#kit'
import type { CircuitReader } from '#provider'
import {
  abstain,
  admit,
  type Circuit,
  type CircuitRules,
  fail,
  newCircuit,
  stateOf,
  succeed,
} from './circuit.ts'

/** The evidence of a try: the provider is there, it is not, or nothing either way. */
export type Verdict = 'answered' | 'failed' | 'neither'

export type Change = 'opened' | 'closed' | undefined

/** Circuits by provider, then by model. Those without failures are not kept. */
export type CircuitMap = Map<string, Map<string, Circuit>>

/** The circuits of all providers and models. */
export class Breaker implements CircuitReader {
  readonly #circuits: CircuitMap
  readonly #rules: CircuitRules

  constructor(circuits: CircuitMap, rules: CircuitRules) {
    this.#circuits = circuits
    this.#rules = rules
  }

  /** Milliseconds until a call may pass; 0 when it may now. */
  admit(provider: string, model: string): number {
    const circuit = this.#circuits.get(provider)?.get(model)
    return circuit ? admit(circuit, this.#rules, Date.now()) : 0
  }

  /** Notes how a try went, and says whether the circuit opened or closed with it. */
  learn(provider: string, model: string, verdict: Verdict): Change {
    const circuit = this.#circuits.get(provider)?.get(model)
    if (verdict === 'failed') {
      const models = ensure(this.#circuits, provider, () => new Map<string, Circuit>())
      const failing = ensure(models, model, newCircuit, mostModels)
      return fail(failing, this.#rules, Date.now()) ? 'opened' : undefined
    }
    if (!circuit) return undefined
    if (verdict === 'neither') {
      abstain(circuit, Date.now())
      return undefined
    }
    this.#remove(provider, model)
    return succeed(circuit) ? 'closed' : undefined
  }

  state(provider: string, model?: string): CircuitState {
    const models = this.#circuits.get(provider)
    if (!models) return 'closed'
    const circuits = model === undefined ? [...models.values()] : [models.get(model) ?? newCircuit()]
    return worst(circuits.map((circuit) => stateOf(circuit, Date.now())))
  }

  #remove(provider: string, model: string): void {
    const models = this.#circuits.get(provider)
    models?.delete(model)
    if (models?.size === 0) this.#circuits.delete(provider)
  }
}

/** Clients name models, so their number needs a bound. */
const mostModels = 1000

export const worst = (states: readonly CircuitState[]): CircuitState =>
  states.includes('open') ? 'open' : states.includes('half_open') ? 'half_open' : 'closed'
