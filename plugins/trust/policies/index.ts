import { type Context, type Ledger, TrustPolicies } from '#kernel'
import { longestGuardrailMatch } from '#kit'
import { Policies } from './policies.ts'
import { addHistoryRoute } from './routes/history.ts'
import { addPolicyRoutes } from './routes/policies.ts'
import { addTestRoute } from './routes/test.ts'
import { Violations } from './violations.ts'

const hourMs = 3_600_000

/** Policies: their routes, and the service by which the module enforces them. */
export async function addPolicies(context: Context<unknown>, ledger: Ledger): Promise<Policies> {
  const policies = new Policies(context)
  const violations = new Violations(context, await context.store.counters('policy-counts'), ledger)
  context.own(await policies.load())
  context.every(hourMs, () => violations.prune())
  context.provide(TrustPolicies, {
    reach: 2 * longestGuardrailMatch,
    compile: (owner, own) => policies.compile(owner, own),
    check: (call, from) => policies.check(call, from),
    any: (from) => policies.any(from),
    record: (call, hits) => violations.record(call, hits),
    judgeUse(use) {
      const hits = policies.ofUse(use)
      violations.recordUse(use, hits)
      return hits
    },
  })
  addPolicyRoutes(context, policies, violations)
  addTestRoute(context, policies)
  addHistoryRoute(context, policies)
  return policies
}
