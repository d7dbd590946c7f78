import type { CircuitState } from '#kernel'

/**
 * A circuit breaker (Nygard, "Release It!") of one model at one provider. It opens after so many failures in a row,
 * none older than the window: counted in a row, because at a high load a small share of failures reaches any number,
 * and is no outage. Plain data; the times are milliseconds since the epoch.
 */
export interface Circuit {
  /** When the latest failures in a row were. */
  failures: readonly number[]
  /** Absent while it is closed; from then on one call at a time may pass. */
  openUntil: number | undefined
  /** A call is under way that decides. */
  probing: boolean
}

export interface CircuitRules {
  readonly threshold: number
  readonly windowMs: number
  readonly openMs: number
}

export const newCircuit = (): Circuit => ({ failures: [], openUntil: undefined, probing: false })

export function stateOf({ openUntil, probing }: Circuit, now: number): CircuitState {
  if (openUntil === undefined) return 'closed'
  return probing || openUntil <= now ? 'half_open' : 'open'
}

/**
 * How long a call has to wait before it may pass, in milliseconds: 0 lets it pass. The call that passes a half-open circuit is
 * its probe. The next call passes when the probe has shown nothing, or has not ended for as long as a circuit stays open.
 */
export function admit(circuit: Circuit, { openMs }: CircuitRules, now: number): number {
  if (circuit.openUntil === undefined) return 0
  const left = circuit.openUntil - now
  if (left > 0) return circuit.probing ? Math.min(left, probeMs) : left
  circuit.probing = true
  circuit.openUntil = now + openMs
  return 0
}

/** When a probe that is under way may be over. */
const probeMs = 1000

/** Notes a failure; true when the circuit opens with it. */
export function fail(circuit: Circuit, { threshold, windowMs, openMs }: CircuitRules, now: number): boolean {
  if (circuit.openUntil !== undefined) {
    if (circuit.probing) circuit.openUntil = now + openMs
    circuit.probing = false
    return false
  }
  circuit.failures = [...circuit.failures.filter((at) => at > now - windowMs), now]
  if (circuit.failures.length < threshold) return false
  circuit.openUntil = now + openMs
  return true
}

/** Notes an answer, or the first content of a stream; true when the circuit closes with it. */
export function succeed(circuit: Circuit): boolean {
  const closes = circuit.openUntil !== undefined
  Object.assign(circuit, newCircuit())
  return closes
}

/** Notes a try that showed neither: another may probe at once. */
export function abstain(circuit: Circuit, now: number): void {
  if (circuit.probing) circuit.openUntil = now
  circuit.probing = false
}
