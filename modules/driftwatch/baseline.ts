import { z } from 'zod'
import type { AnomalyDimension } from '#kernel'
import { type Answer, type Metric, metrics } from './answer.ts'
import { countsOf, figureOf, profileOf, profileSchema } from './profile.ts'
import { chanceIndex, stabilityIndex } from './stability.ts'

/** What a module's configuration asks for. */
export interface Limits {
  readonly baselineCalls: number
  readonly windowCalls: number
  /** The stability index above which a window differs. */
  readonly psi: number
  readonly metrics: readonly Metric[]
}

/** Values that say less than this nothing of a metric, as where few calls ask for JSON. */
const enough = 10

const value = z.union([z.number(), z.string().max(40)])
const sample = z.array(value).max(10_000)
const byMetric = <T extends z.ZodType>(of: T) => z.partialRecord(z.enum(metrics), of)

const comparison = z.strictObject({ actual: z.number(), psi: z.number(), isOver: z.boolean() })
export type Comparison = z.infer<typeof comparison>

/** A baseline as it is kept. */
export const baselineRow = z.strictObject({
  provider: z.string(),
  model: z.string(),
  template: z.string().optional(),
  calls: z.int().min(0),
  lastAt: z.number(),
  isPinned: z.boolean(),
  /** When it began, in milliseconds since the epoch. */
  since: z.number(),
  /** Whether the last windows differ from it, which was told. */
  hasDrifted: z.boolean(),
  /** Whole windows that were compared with it. */
  windows: z.int().min(0),
  /** Absent while it learns. */
  profiles: byMetric(profileSchema).optional(),
  /** By metric, of the last window. */
  last: byMetric(comparison),
  /** Of the calls since the baseline began or the last window ended. */
  taken: z.int().min(0),
  samples: byMetric(sample),
})
export type BaselineRow = z.infer<typeof baselineRow>

/** What the answers of a model, or of a template with a model, were like once, and whether they still are. */
export class Baseline {
  readonly #row: BaselineRow
  version = 0

  constructor(row: BaselineRow) {
    this.#row = row
  }

  static begin(of: Pick<BaselineRow, 'provider' | 'model' | 'template'>): Baseline {
    const blank = { calls: 0, lastAt: 0, isPinned: false, since: 0, hasDrifted: false, windows: 0, taken: 0 }
    const baseline = new Baseline({ ...of, ...blank, last: {}, samples: {} })
    baseline.reset()
    return baseline
  }

  get calls(): number {
    return this.#row.calls
  }

  get lastAt(): number {
    return this.#row.lastAt
  }

  get row(): Readonly<BaselineRow> {
    return this.#row
  }

  pack(): BaselineRow {
    return structuredClone(this.#row)
  }

  /** Learns from the next calls anew. */
  reset(): void {
    delete this.#row.profiles
    Object.assign(this.#row, { since: Date.now(), hasDrifted: false, windows: 0, last: {} })
    this.#clear()
  }

  /** A pinned baseline stays after a drift; others are learned anew then, or when they are let go. */
  pin(isPinned: boolean): void {
    this.#row.isPinned = isPinned
    this.version += 1
    if (!isPinned && this.#row.hasDrifted) this.reset()
  }

  /** Takes in an answer; returns what has drifted when it has, once. */
  learn(answer: Answer, limits: Limits): AnomalyDimension[] {
    const row = this.#row
    row.calls += 1
    row.taken += 1
    row.lastAt = Date.now()
    this.version += 1
    for (const metric of limits.metrics) {
      const value = answer[metric]
      if (value === undefined) continue
      row.samples[metric] ??= []
      row.samples[metric].push(value)
    }
    if (row.profiles) return row.taken < limits.windowCalls ? [] : this.#compare(row.profiles, limits)
    if (row.taken >= limits.baselineCalls) this.#settle()
    return []
  }

  /** Has each metric with enough values a profile: also one that is watched only since, or was rare before. */
  #settle(): void {
    const row = this.#row
    row.profiles ??= {}
    for (const [metric, sample] of Object.entries(row.samples) as [Metric, (number | string)[]][])
      if (sample.length >= enough) row.profiles[metric] ??= profileOf(metric, sample)
    this.#clear()
  }

  #compare(profiles: NonNullable<BaselineRow['profiles']>, { psi: bound }: Limits): AnomalyDimension[] {
    const row = this.#row
    const { last } = row
    row.last = {}
    row.windows += 1
    const drifted: AnomalyDimension[] = []
    for (const [metric, { bins, counts, usual }] of Object.entries(profiles) as [
      Metric,
      NonNullable<(typeof profiles)[Metric]>,
    ][]) {
      const sample = row.samples[metric] ?? []
      if (sample.length < enough) continue
      const window = countsOf(bins, sample)
      const psi = stabilityIndex(counts, window)
      const learned = counts.reduce((sum, count) => sum + count, 0)
      const isOver = psi > bound && psi > chanceIndex(counts.length, learned, sample.length)
      const actual = figureOf(metric, bins, sample)
      row.last[metric] = { actual, psi, isOver }
      if (isOver && last[metric]?.isOver)
        drifted.push({
          metric,
          by: row.template === undefined ? 'model' : 'template',
          expected: usual,
          actual,
          score: psi,
          method: 'PSI',
        })
    }
    this.#settle()
    const isNew = drifted.length > 0 && !row.hasDrifted
    if (!Object.values(row.last).some(({ isOver }) => isOver)) row.hasDrifted = false
    if (!isNew) return []
    row.hasDrifted = true
    if (!row.isPinned) this.reset()
    return drifted.sort((a, b) => b.score - a.score)
  }

  #clear(): void {
    this.#row.taken = 0
    this.#row.samples = {}
    this.version += 1
  }
}
