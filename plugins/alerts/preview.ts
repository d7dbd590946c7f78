import type { PulseSettings, TraceReader } from '#kernel'
import { eachPastCall, takingTurns } from '#kit'
import { checkGroup, groupsOf, type Known, shownGroup } from './check.ts'
import { cooldownOf } from './evaluation.ts'
import { longestCallMs } from './refill.ts'
import { Rule } from './rule.ts'
import type { RuleRow } from './rule-fields.ts'
import { type Sample, sampleOf } from './sample.ts'
import { parts } from './window.ts'

/** Calls of the past that a preview reads at the most. */
export const mostCalls = 200_000

/** A firing that would have been. Times are milliseconds since the epoch. */
export interface WouldFire {
  readonly group: string | null
  readonly firedAt: number
  readonly value: number
  /** Undefined where it would still last. */
  resolvedAt?: number
}

export interface Previewed {
  readonly calls: number
  /** Whether all calls of the time were read. */
  readonly complete: boolean
  readonly firings: number
  readonly groups: number
  readonly groupsDropped: number
  /** The first ones. */
  readonly shown: readonly WouldFire[]
}

interface Question {
  /** Milliseconds since the epoch. */
  readonly from: number
  readonly to: number
  readonly pulse: PulseSettings
  readonly mostShown: number
  readonly budgetMs: number
  readonly signal: AbortSignal
}

/** Has a rule pass over the calls of the past, as if it had been there. Nothing is stored, and nobody is told. */
export async function preview(row: RuleRow, traces: TraceReader, question: Question): Promise<Previewed> {
  const ends = performance.now() + question.budgetMs
  const { samples, complete } = await pastCalls(row, traces, question)
  const replay = new Replay(row, question)
  const isDone = await replay.run(samples, ends)
  const { firings, shown, rule } = replay
  return {
    calls: samples.length,
    complete: complete && isDone,
    firings,
    groups: rule.groups.size,
    groupsDropped: rule.groups.dropped,
    shown,
  }
}

/** The calls that matter to the time, by their end. */
async function pastCalls(
  { window_seconds: seconds }: RuleRow,
  traces: TraceReader,
  { from, to, budgetMs, signal }: Question,
): Promise<{ samples: Sample[]; complete: boolean }> {
  const samples: Sample[] = []
  const query = { from: from - seconds * 1000 - longestCallMs, to }
  let read = 0
  const isInTime = await eachPastCall(
    traces,
    query,
    { calls: mostCalls, budgetMs, signal },
    async (trace) => {
      read += 1
      const sample = sampleOf(trace)
      if (sample && sample.endedAt < to) samples.push(sample)
    },
  )
  return { samples: samples.sort((a, b) => a.endedAt - b.endedAt), complete: isInTime && read < mostCalls }
}

/** A rule on its way through the past. */
class Replay {
  readonly rule: Rule
  readonly shown: WouldFire[] = []
  firings = 0
  readonly #question: Question
  readonly #cooldownMs: number
  readonly #known = new Map<string, Known & { readonly shown: WouldFire | undefined }>()
  #isQuiet = true

  constructor(row: RuleRow, question: Question) {
    this.rule = new Rule(row, { windows: 0 })
    this.#question = question
    this.#cooldownMs = cooldownOf(row, question.pulse)
  }

  /** Checks as often as the gateway would; says whether the time sufficed. */
  async run(samples: readonly Sample[], ends: number): Promise<boolean> {
    const { from, to, pulse, signal } = this.#question
    const rest = takingTurns()
    // Between two calls a window changes at the borders of its parts only.
    const step = Math.max(pulse.everyMs, this.rule.windowMs / parts)
    let next = 0
    for (let now = from; now < to; now += step) {
      signal.throwIfAborted()
      if (performance.now() > ends) return false
      while (next < samples.length && samples[next]!.endedAt <= now) {
        this.rule.take(samples[next]!, pulse.mostGroups)
        next += 1
      }
      this.#check(now)
      await rest()
    }
    return true
  }

  #check(now: number): void {
    for (const group of groupsOf(this.rule)) {
      const { change, verdict } = checkGroup(this.rule, group, {
        now,
        cooldownMs: this.#cooldownMs,
        isSilenced: false,
        stateBefore: this.#isQuiet ? 'no_data' : 'ok',
        known: (name) => this.#known.get(name),
      })
      this.#isQuiet = verdict === 'no_data'
      if (change?.kind === 'fire') this.#fire(group, change.value, now)
      else if (change?.kind === 'resolve') this.#resolve(group, now)
      else this.rule.groups.tidy(group)
    }
  }

  #fire(group: string, value: number, now: number): void {
    this.firings += 1
    const shown =
      this.shown.length < this.#question.mostShown
        ? { group: shownGroup(group), firedAt: now, value }
        : undefined
    if (shown) this.shown.push(shown)
    this.rule.groups.hold(group, now)
    this.#known.set(group, { state: 'firing', fired_at: now, told: true, shown })
  }

  #resolve(group: string, now: number): void {
    const known = this.#known.get(group)
    if (!known) return
    if (known.shown) known.shown.resolvedAt = now
    this.rule.groups.letGo(group)
    this.#known.set(group, { ...known, state: 'over' })
  }
}
