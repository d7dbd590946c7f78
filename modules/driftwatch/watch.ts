import type { Anomalies, AnomalyDimension } from '#kernel'
import { detach, type Learned } from '#kit'
import type { Answer } from './answer.ts'
import { Baseline, type BaselineRow, type Limits } from './baseline.ts'

/** An answer on its way to the first thread. */
export interface Answered {
  readonly provider: string
  readonly model: string
  readonly template: string | undefined
  readonly trace: string
  readonly answer: Answer
  readonly limits: Limits
}

export type Baselines = Learned<BaselineRow, Baseline>

/** Which baseline an answer belongs to. */
const nameOf = (provider: string, model: string, template?: string): string =>
  JSON.stringify(template === undefined ? [provider, model] : [provider, model, template])

/** Compares answers with the baselines of their model and their template. Lives in the first thread. */
export class Watch {
  readonly #baselines: Baselines
  readonly #anomalies: () => Anomalies

  constructor(baselines: Baselines, anomalies: () => Anomalies) {
    this.#baselines = baselines
    this.#anomalies = anomalies
  }

  /** Learns an answer, and returns what has drifted: nothing for most answers. */
  learn(answered: Answered): readonly AnomalyDimension[] {
    const drifted = this.#learn(answered, undefined)
    if (answered.template === undefined) return drifted
    return [...drifted, ...this.#learn(answered, answered.template)]
  }

  #learn(
    { provider, model, trace, answer, limits }: Answered,
    template: string | undefined,
  ): readonly AnomalyDimension[] {
    const name = nameOf(provider, model, template)
    const baseline =
      this.#baselines.get(name) ??
      this.#baselines.add(
        name,
        Baseline.begin({ provider, model, ...(template !== undefined && { template }) }),
      )
    const drifted = baseline.learn(answer, limits)
    const [first, ...rest] = drifted
    if (!first) return drifted
    const scope = { provider, model, template }
    const severity =
      first.score >= 4 * limits.psi ? 'critical' : first.score >= 2 * limits.psi ? 'warning' : 'info'
    const dimensions = [first, ...rest] as const
    detach('a drift', this.#record({ kind: 'drift', severity, scope, dimensions, traces: [trace] }))
    return drifted
  }

  async #record(found: Parameters<Anomalies['record']>[0]): Promise<void> {
    await this.#anomalies().record(found)
  }
}
