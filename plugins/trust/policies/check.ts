import type { Call, Candidate, Completion, PolicyCheck, PolicyHit, PolicySpan, TextLocation } from '#kernel'
import type { CompiledPolicy, PolicyText } from './compile.ts'
import { hitOf, type PolicySet, type PolicySets } from './sets.ts'
import { namesIn, textsOfReply, textsOfRequest } from './texts.ts'

type Direction = TextLocation['direction']

/** A policy, and its rules for texts of the request that have not matched. */
interface Waiting {
  readonly policy: CompiledPolicy
  readonly missing: Set<PolicyText>
}

/** The policies whose rules for values match in one call, and how far their other rules have matched. */
export class CallCheck implements PolicyCheck {
  readonly #sets: PolicySets
  readonly #bans: readonly CompiledPolicy[]
  readonly #waiting: readonly Waiting[]
  /** Rules for texts of policies that one more match violates. */
  readonly #acting: Record<Direction, PolicyText[]> = { request: [], reply: [] }
  /** What was made of so many of them; there come more, and none goes. */
  readonly #made: Partial<Record<Direction, { readonly size: number; readonly set: PolicySet | undefined }>> =
    {}
  /** Policies that the whole answer decides over. */
  readonly #judged: CompiledPolicy[] = []
  #costUsd: number | undefined

  constructor(
    call: Call,
    policies: readonly CompiledPolicy[],
    { bans, sets }: { readonly bans: readonly CompiledPolicy[]; readonly sets: PolicySets },
  ) {
    this.#sets = sets
    this.#bans = bans
    const [single, others] = partition(policies, isViolatedByAnyMatch)
    for (const { request } of single) this.#acting.request.push(...request)
    this.#waiting = others.map((policy) => ({ policy, missing: new Set(policy.request) }))
    if (others.some(({ request }) => request.length > 0))
      for (const { text, place } of textsOfRequest(call.request)) this.#see(text, place)
    for (const { policy, missing } of this.#waiting)
      if (missing.size === 0 && policy.costs.length === 0) this.#ready(policy)
  }

  get needsCost(): boolean {
    return this.#waiting.some(({ policy }) => policy.costs.length > 0)
  }

  get mayJudge(): boolean {
    return this.#waiting.some(({ policy: { kind } }) => kind === 'calls' || kind === 'whole')
  }

  looksAt(direction: Direction): boolean {
    return (
      this.#acting[direction].length > 0 ||
      (direction === 'reply' && this.#judged.some(({ row: { action } }) => action === 'redact'))
    )
  }

  held(direction: Direction): number {
    return this.#setOf(direction)?.held ?? 0
  }

  find(text: string, place: TextLocation, from: number): readonly PolicySpan[] {
    if (place.origin !== undefined) this.#brought(text, place)
    return this.#setOf(place.direction)?.find(text, place, from) ?? []
  }

  decide(costUsd: number | undefined): readonly PolicyHit[] {
    this.#costUsd = costUsd
    const hits: PolicyHit[] = []
    for (const { policy, missing } of this.#waiting) {
      if (missing.size > 0 || !this.#costHolds(policy)) continue
      const { kind, costs, row } = policy
      if (kind === 'values' || (kind === 'request' && costs.length > 0))
        hits.push(hitOf(row, row.rules.at(-1)!.field))
      else if (costs.length > 0) this.#ready(policy)
    }
    return hits
  }

  refuses({ provider, model }: Candidate): string | undefined {
    const isBanned = ({ models }: CompiledPolicy): boolean =>
      models.every((matches) => matches({ model }) || matches({ model: `${provider}/${model}` }))
    const ban = this.#bans.find(isBanned)
    return ban && `the trust policy ${ban.row.name} forbids it`
  }

  judges(): 'no' | 'beside' | 'calls' | 'before' {
    if (this.#judged.length === 0) return 'no'
    const acting = this.#judged.filter(isEnforcing)
    if (acting.length === 0) return 'beside'
    return acting.every(({ kind }) => kind === 'calls') ? 'calls' : 'before'
  }

  judge(body: Completion): readonly PolicyHit[] {
    const texts = textsOfReply(body)
    const names = namesIn(body)
    const violated = this.#judged.filter(
      (policy) =>
        policy.names.every((matches) => names.some(matches)) &&
        policy.reply.every((rule) =>
          texts.some(({ text, place }) => rule.looksAt(place) && rule.find(text, 0) !== undefined),
        ),
    )
    const [redacting, others] = partition(
      violated,
      (policy) => isEnforcing(policy) && policy.row.action === 'redact',
    )
    for (const { reply } of redacting) this.#acting.reply.push(...reply)
    return others.map(({ row, reply }) => hitOf(row, reply.at(-1)?.field ?? 'tool.name'))
  }

  /** A text that a module brings in after the request was searched can be the one that was missing. */
  #brought(text: string, place: TextLocation): void {
    for (const { policy } of this.#see(text, place)) if (this.#costHolds(policy)) this.#ready(policy)
  }

  /** Takes the rules that match in a text from those that are missing; returns what is no longer waiting for any. */
  #see(text: string, place: TextLocation): Waiting[] {
    const open = this.#waiting.filter(({ missing }) => missing.size > 0)
    const set = this.#sets.of(open.flatMap(({ policy }) => policy.request))
    if (!set) return []
    const matching = set.matching(text, place)
    return open.filter(({ missing }) => {
      for (const rule of matching) missing.delete(rule)
      return missing.size === 0
    })
  }

  #ready(policy: CompiledPolicy): void {
    const { kind, request, reply } = policy
    if (kind === 'request') this.#acting.request.push(...request)
    else if (kind === 'reply') this.#acting.reply.push(...reply)
    else if (kind !== 'values') this.#judged.push(policy)
  }

  #costHolds({ costs }: CompiledPolicy): boolean {
    const usd = this.#costUsd
    return costs.length === 0 || (usd !== undefined && costs.every((holds) => holds(usd)))
  }

  /** Asked with each part of a stream. */
  #setOf(direction: Direction): PolicySet | undefined {
    const rules = this.#acting[direction]
    const known = this.#made[direction]
    if (known?.size === rules.length) return known.set
    const set = this.#sets.of(rules)
    this.#made[direction] = { size: rules.length, set }
    return set
  }
}

const isViolatedByAnyMatch = ({ kind, request, costs }: CompiledPolicy): boolean =>
  kind === 'request' && request.length === 1 && costs.length === 0

const isEnforcing = ({ row: { mode, action } }: CompiledPolicy): boolean =>
  mode === 'enforce' && (action === 'block' || action === 'redact')

function partition<T>(all: readonly T[], holds: (one: T) => boolean): readonly [T[], T[]] {
  const { yes = [], no = [] } = Object.groupBy(all, (one) => (holds(one) ? 'yes' : 'no'))
  return [yes, no]
}
