import type { Configured } from '../configuration/configured.ts'
import type { Mode } from '../configuration/fields.ts'
import type { ScoreRow } from '../scores/row.ts'
import type { Scores } from '../scores/scores.ts'
import { type Standing, standingOf } from '../scores/standing.ts'

/** How autopilot stands as a whole. */
export type State = 'off' | 'uncalibrated' | 'ready' | 'degraded'

interface Ranked {
  /** All models with a score. */
  readonly standings: readonly Standing[]
  /** Those that qualify and suit the mode better than the reference model, the best first. */
  readonly better: readonly Standing[]
  readonly reference: ScoreRow | undefined
  /** Differs wherever calls may be routed otherwise. */
  readonly edition: string
}

/** The models in the order in which a mode prefers them, made anew when the configuration or a score has changed. */
export class Ranking {
  readonly #configured: Pick<Configured, 'current' | 'updatedAt'>
  readonly #scores: Pick<Scores, 'all' | 'of'>
  #made: Ranked | undefined

  constructor(configured: Pick<Configured, 'current' | 'updatedAt'>, scores: Pick<Scores, 'all' | 'of'>) {
    this.#configured = configured
    this.#scores = scores
  }

  /** To be called after every change. */
  forget(): void {
    this.#made = undefined
  }

  get now(): Ranked {
    this.#made ??= this.#make()
    return this.#made
  }

  get state(): State {
    const { enabled, candidate_models } = this.#configured.current
    const { standings, better } = this.now
    if (!enabled) return 'off'
    const candidates = standings.filter(({ score }) => candidate_models.includes(score.model))
    if (candidates.length === 0) return 'uncalibrated'
    const isWell = better.length > 0 || candidates.some(({ problem }) => problem === undefined)
    return isWell && !candidates.some(({ score }) => score.suspended) ? 'ready' : 'degraded'
  }

  #make(): Ranked {
    const { current, updatedAt = '' } = this.#configured
    const { mode, reference_model } = current
    const scores = this.#scores.all.toSorted((a, b) => (a.model < b.model ? -1 : 1))
    const standings = scores.map((score) => standingOf(score, current))
    const reference = reference_model === null ? undefined : this.#scores.of(reference_model)
    const weight = weights[mode]
    const bound = mode === 'balanced' ? 2 : 1
    const better = standings
      .filter(({ score, problem }) => problem === undefined && score.model !== reference_model)
      .flatMap((standing) => {
        const weighed = weight(standing.score)
        return weighed === undefined || (bound !== undefined && weighed >= bound)
          ? []
          : [{ standing, weighed }]
      })
      .sort((a, b) => a.weighed - b.weighed)
      .map(({ standing }) => standing)
    const found = scores.map(({ model, calibration_id, suspended }) => [model, calibration_id, suspended?.at])
    return { standings, better, reference, edition: JSON.stringify([updatedAt, found]) }
  }
}

/** What a mode weighs of a model, in proportion to the reference model: less is better. Undefined where it is not known. */
const weights: Readonly<Record<Mode, (score: ScoreRow) => number | undefined>> = {
  cost: ({ cost_ratio }) => cost_ratio,
  speed: ({ latency_ratio }) => latency_ratio,
  balanced: ({ cost_ratio: cost, latency_ratio: latency }) =>
    cost === undefined || latency === undefined ? undefined : cost + latency,
}
