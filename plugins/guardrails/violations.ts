import {
  type Age,
  type Call,
  type Context,
  type Counters,
  defineEvent,
  findingActions,
  type GuardrailHit,
  newId,
  type RowLog,
  type TextLocation,
} from '#kernel'
import { Expiry, HourlyCounts } from '#kit'
import type { Rules } from './rules.ts'
import { type Violation, violation } from './shapes.ts'

export const GuardrailViolation = defineEvent(
  'guardrail.violation',
  violation.pick({
    rule_id: true,
    rule_name: true,
    action: true,
    mode: true,
    direction: true,
    project: true,
    trace_id: true,
  }),
  { description: 'A guardrail rule matched in a call: one event for each rule and direction of a call.' },
)

type Parts = Pick<Context<unknown>, 'store' | 'emit' | 'event'>

/** Matches of rules in calls: a row for each rule, direction and call, and counts that outlive the rows. */
export class Violations {
  readonly log: RowLog<Violation & { readonly at: number }>
  readonly #expiry: Expiry<Violation>
  readonly #counters: Counters
  readonly #hourly: HourlyCounts
  readonly #emit: Parts['emit']
  readonly #rules: Rules

  private constructor({ store, emit, event }: Parts, rules: Rules, counters: Counters) {
    event(GuardrailViolation)
    this.log = store.log('violations', {
      id: ({ id }) => id,
      time: ({ at }) => at,
      fields: {
        rule_id: (row) => row.rule_id,
        project: (row) => row.project,
        user_id: (row) => row.user_id ?? undefined,
        action: (row) => row.action,
      },
    })
    this.#expiry = new Expiry(this.log)
    this.#counters = counters
    this.#hourly = new HourlyCounts(counters)
    this.#emit = emit
    this.#rules = rules
  }

  static async open(parts: Parts, rules: Rules): Promise<Violations> {
    return new Violations(parts, rules, await parts.store.counters('counts'))
  }

  /** Matches in attacks of the red team are in its own figures: here they would pass for those of users. */
  record(call: Call, direction: TextLocation['direction'], hits: readonly GuardrailHit[]): void {
    if (call.context.source === 'redteam') return
    this.#counters.add('checks', 1)
    if (hits.length === 0) return
    const now = Date.now()
    for (const [ruleId, own] of Map.groupBy(hits, (hit) => hit.ruleId)) {
      const { ruleName, ruleType, action, shadow, preview } = own[0]!
      this.#count(ruleId, ruleType, shadow ? 'shadow' : action, own.length, now)
      const found: Violation = {
        id: newId('gv_'),
        timestamp: new Date(now).toISOString(),
        rule_id: ruleId,
        rule_name: ruleName,
        rule_type: ruleType,
        action,
        mode: shadow ? 'shadow' : 'enforce',
        direction: direction === 'reply' ? 'response' : 'request',
        project: call.context.project,
        user_id: call.principal.userId ?? null,
        model: call.request.model,
        trace_id: call.id,
        matches: own.length,
        match_preview: preview,
      }
      this.log.append({ ...found, at: now })
      const { id: _, timestamp, rule_type, user_id, model, matches, match_preview, ...told } = found
      this.#emit(GuardrailViolation, told, { cause: call })
    }
  }

  /** Matches of the last 24 hours, to the hour, and the time of the newest. */
  async hitsOf(ruleId: string): Promise<{ hits_24h: number; last_hit_at: string | null }> {
    const { items } = await this.log.list({ where: { rule_id: ruleId }, limit: 1 })
    return { hits_24h: this.#hourly.ofLastDay(ruleId), last_hit_at: items[0]?.timestamp ?? null }
  }

  /** Sums since the first call that was checked, in all threads. */
  stats() {
    const of = (name: string): number => this.#counters.get(name)
    const [block, redact, warn, log] = findingActions.map((action) => of(`action ${action}`))
    const named = (prefix: string): [string, number][] =>
      this.#counters.entries(prefix).map(([name, count]) => [name.slice(prefix.length), count])
    return {
      total_checks: of('checks'),
      blocked: block!,
      redacted: redact!,
      flagged: warn! + log!,
      warned: warn!,
      logged: log!,
      shadowed: of('action shadow'),
      rule_hits: named('rule ').map(([id, hits]) => ({
        rule_id: id,
        name: this.#rules.get(id)?.row.name ?? null,
        hits,
      })),
      by_type: Object.fromEntries(named('type ')),
      since: new Date(of('since') || Date.now()).toISOString(),
    }
  }

  /** Deletes rows that are past the age of their project, and counts of hours that are over. */
  async prune(age: Age): Promise<void> {
    await this.#expiry.sweep(age)
    this.#hourly.prune()
  }

  #count(ruleId: string, type: string, action: string, hits: number, now: number): void {
    if (this.#counters.get('since') === 0) this.#counters.set('since', now)
    this.#counters.add(`action ${action}`, hits)
    this.#counters.add(`rule ${ruleId}`, hits)
    this.#counters.add(`type ${type}`, hits)
    this.#hourly.add(ruleId, hits, now)
  }
}
