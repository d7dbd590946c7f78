import type {
  Actor,
  Call,
  Collection,
  Context,
  OwnPolicies,
  PolicyHit,
  PolicyToolUse,
  TrustPolicies,
} from '#kernel'
import { changed, followRows, rowSection, trustPolicy } from '#kit'
import { CallCheck } from './check.ts'
import { type CompiledPolicy, compilePolicy, compileUnstored } from './compile.ts'
import { CallFacts, type Facts } from './facts.ts'
import { normalised } from './normalise.ts'
import { isViolated, sampleOfUse } from './sample.ts'
import { hitOf, policySets } from './sets.ts'
import { type PolicyRow, type PolicyRule, policyRow } from './shapes.ts'

/** Each call is compared with all of them. */
export const mostPolicies = 1000

type Parts = Pick<Context<unknown>, 'store' | 'section'>

/** All policies, in memory for calls and in the store for good. A change holds for the next call, in every thread. */
export class Policies {
  readonly rows: Collection<PolicyRow>
  /** Stores a policy, or deletes it, with an entry in the configuration's history. */
  readonly set: (id: string, row: PolicyRow | undefined, actor?: Actor) => Promise<void>
  readonly #compiled = new Map<string, CompiledPolicy>()
  readonly #sets = policySets()
  /** Those that are on, the highest priority first. */
  #inForce: readonly CompiledPolicy[] = []

  constructor({ store, section }: Parts) {
    this.rows = store.collection('policies', { schema: policyRow })
    this.set = section(
      rowSection<PolicyRow>({
        name: 'policies',
        rows: this.rows,
        most: mostPolicies,
        isVersioned: true,
        fieldsOf: (form) => normalised(changed({}, form, trustPolicy)),
      }),
    )
  }

  /** Takes in what is stored, and from then on every change; returns what ends that. */
  load(): Promise<() => void> {
    return followRows(this.rows, (id, row) => this.#take(id, row))
  }

  get all(): readonly CompiledPolicy[] {
    return [...this.#compiled.values()]
  }

  get inForce(): readonly CompiledPolicy[] {
    return this.#inForce
  }

  get(id: string): CompiledPolicy | undefined {
    return this.#compiled.get(id)
  }

  /** Policies that are in the settings of a module. */
  compile(owner: string, policies: readonly object[]): OwnPolicies {
    return compileUnstored(
      policies.map((policy) => trustPolicy.parse(policy)),
      owner,
    ).filter(({ row }) => row.enabled)
  }

  /** Whether any policy may hold for any call. */
  any({ stored, own }: Parameters<TrustPolicies['check']>[1]): boolean {
    return own.length > 0 || (stored && this.#inForce.length > 0)
  }

  /** The policies that may hold for a call; undefined for none. */
  check(call: Call, { stored, own }: Parameters<TrustPolicies['check']>[1]): CallCheck | undefined {
    const all = [...(stored ? this.#inForce : []), ...(own as readonly CompiledPolicy[])]
    if (all.length === 0) return undefined
    const facts = new CallFacts(call)
    const near = all.filter((policy) => policy.covers(facts) && valuesMatch(policy, facts))
    if (near.length === 0) return undefined
    const policies = near.filter((policy) => modelMatches(policy, facts))
    const bans = near.filter((policy) => policy.isBan && !modelMatches(policy, facts))
    if (policies.length === 0 && bans.length === 0) return undefined
    return new CallCheck(call, policies, { bans, sets: this.#sets })
  }

  /** The policies about tools that a use of one violates. */
  ofUse(use: PolicyToolUse): PolicyHit[] {
    const sample = sampleOfUse(use)
    return this.#inForce.flatMap((policy) => {
      const rule = policy.row.rules.findLast(isAboutTools)
      return rule && isViolated(policy, sample) ? [hitOf(policy.row, rule.field)] : []
    })
  }

  #take(id: string, row: PolicyRow | undefined): void {
    if (row) this.#compiled.set(id, compilePolicy(row))
    else this.#compiled.delete(id)
    this.#sets.clear()
    this.#inForce = this.all
      .filter((policy) => policy.row.enabled)
      .sort((a, b) => b.row.priority - a.row.priority)
  }
}

const isAboutTools = ({ field, target }: PolicyRule): boolean =>
  field === 'tool.name' || (target ?? field) === 'tool_args'

const valuesMatch = ({ values }: CompiledPolicy, facts: Facts): boolean =>
  values.every((matches) => matches(facts))

const modelMatches = ({ models }: CompiledPolicy, facts: Facts): boolean =>
  models.every((matches) => matches(facts))
