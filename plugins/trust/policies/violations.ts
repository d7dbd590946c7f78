import { z } from 'zod'
import {
  type Call,
  type Context,
  type Counters,
  defineEvent,
  findingActions,
  type Ledger,
  type LedgerActor,
  type PolicyHit,
  type PolicyToolUse,
} from '#kernel'
import { HourlyCounts } from '#kit'

export const TrustViolation = defineEvent(
  'trust.violation',
  z.object({
    policy_id: z.string(),
    policy: z.string(),
    action: z.enum(findingActions),
    mode: z.enum(['enforce', 'shadow']),
    field: z.string(),
    direction: z.enum(['request', 'response']),
    project: z.string(),
    trace_id: z.string(),
  }),
  {
    alias: 'trust_violation',
    description: 'A call violates a trust policy: one event for each policy and call.',
  },
)

type Parts = Pick<Context<unknown>, 'emit' | 'event'>

/** Violations of policies by calls: counted for the last day, told as events, and kept in the ledger. */
export class Violations {
  readonly #emit: Parts['emit']
  readonly #ledger: Ledger
  readonly #hourly: HourlyCounts

  constructor({ emit, event }: Parts, counters: Counters, ledger: Ledger) {
    event(TrustViolation)
    this.#emit = emit
    this.#ledger = ledger
    this.#hourly = new HourlyCounts(counters)
  }

  /** Attacks of the red team violate policies on purpose, and nobody is to be told of them. */
  record(call: Call, hits: readonly PolicyHit[]): void {
    if (call.context.source === 'redteam') return
    const byPolicy = new Map(hits.map((hit) => [hit.policyId, hit]))
    for (const { policyId, policyName, action, shadow, field, direction } of byPolicy.values()) {
      this.#hourly.add(policyId, 1)
      const told = {
        policy: policyName,
        mode: shadow ? ('shadow' as const) : ('enforce' as const),
        field,
        direction: direction === 'reply' ? ('response' as const) : ('request' as const),
        project: call.context.project,
      }
      this.#emit(TrustViolation, { ...told, policy_id: policyId, action, trace_id: call.id }, { cause: call })
      this.#ledger.record({
        event_type: 'policy.violated',
        actor: actorOf(call.principal),
        resource: { type: 'policy', id: policyId },
        action,
        detail: told,
        trace_id: call.id,
        verdict: shadow ? 'shadow' : action,
      })
    }
  }

  /** A use of a tool that no call is about: it is counted and kept, and tells nobody who waits for calls. */
  recordUse({ principal, project, runId, toolId }: PolicyToolUse, hits: readonly PolicyHit[]): void {
    for (const { policyId, policyName: policy, action, shadow, field } of hits) {
      this.#hourly.add(policyId, 1)
      const mode = shadow ? 'shadow' : 'enforce'
      this.#ledger.record({
        event_type: 'policy.violated',
        actor: actorOf(principal),
        resource: { type: 'policy', id: policyId },
        action,
        detail: { policy, mode, field, project, run_id: runId, tool_id: toolId },
        verdict: shadow ? 'shadow' : action,
      })
    }
  }

  hitsOf(policyId: string): number {
    return this.#hourly.ofLastDay(policyId)
  }

  prune(): void {
    this.#hourly.prune()
  }
}

const actorOf = ({ type, userId, keyId }: PolicyToolUse['principal']): LedgerActor =>
  type === 'user' && userId !== undefined ? { type, id: userId } : { type: 'admin', id: keyId }
