import { LRUCache } from 'lru-cache'
import { type Context, kernelServices, Pricing, TraceReader } from '#kernel'
import { cacheable } from './analyses/cacheable.ts'
import { costWaste } from './analyses/cost-waste.ts'
import { errorRate } from './analyses/error-rate.ts'
import { modelConcentration } from './analyses/model-concentration.ts'
import { oversizedModel } from './analyses/oversized-model.ts'
import { personalData } from './analyses/personal-data.ts'
import { promptDuplication } from './analyses/prompt-duplication.ts'
import { type ModuleRuns, unusedModule } from './analyses/unused-module.ts'
import { analyze } from './analyze.ts'
import { type Analysis, type Insight, insightOf } from './insight.ts'

const dayMs = 86_400_000
const keptMs = 60_000
/** Analyses that are kept. */
const mostKept = 200

export interface Report {
  /** Those that save most come first. */
  readonly all: readonly Insight[]
  readonly traces_analyzed: number
  readonly bodies_analyzed: number
  readonly complete: boolean
  readonly generated_at: string
}

/** Analyses of traces, one at a time, each kept for a minute. */
export class Insights {
  readonly #context: Pick<Context<unknown>, 'use' | 'find'>
  readonly #kept = new LRUCache<string, Promise<Report>>({ max: mostKept, ttl: keptMs })
  #turn: Promise<unknown> = Promise.resolve()

  constructor(context: Pick<Context<unknown>, 'use' | 'find'>) {
    this.#context = context
  }

  /** Of a user's calls, or of all; of so many days. */
  of(userId: string | undefined, days: number): Promise<Report> {
    const key = JSON.stringify([userId ?? null, days])
    const kept = this.#kept.get(key)
    if (kept) return kept
    const made = this.#turn.then(() => this.#report(userId, days))
    this.#turn = made.catch(() => this.#kept.delete(key))
    this.#kept.set(key, made)
    return made
  }

  async #report(userId: string | undefined, days: number): Promise<Report> {
    const now = new Date()
    const { use, find } = this.#context
    const pricing = find(Pricing)
    const analyses: Analysis[] = [
      costWaste(),
      personalData(),
      promptDuplication(pricing),
      errorRate(),
      modelConcentration(),
      cacheable(),
      oversizedModel(pricing),
    ]
    if (userId === undefined)
      analyses.push(unusedModule(await this.#modules(), use(kernelServices.runtime).startedAt))
    const range = { from: now.getTime() - days * dayMs, userId }
    const { found, traces, bodies, complete } = await analyze(use(TraceReader), range, analyses)
    return {
      all: found.toSorted((a, b) => b.savedNano - a.savedNano).map((one) => insightOf(one, now)),
      traces_analyzed: traces,
      bodies_analyzed: bodies,
      complete,
      generated_at: now.toISOString(),
    }
  }

  /**
   * Modules that somebody switched on or gave a condition, and that have something to do. Those that are on by default may wait
   * for what seldom comes, such as a failure.
   */
  async #modules(): Promise<ModuleRuns[]> {
    const { use } = this.#context
    const threads = use(kernelServices.threads)
    const chosen = use(kernelServices.registry).places.filter(
      ({ plugin: { binding, instance, setting }, manifest }) =>
        !binding &&
        setting?.enabled &&
        (!manifest.enabled || setting.when !== undefined) &&
        Object.keys(instance?.hooks ?? {}).length > 0,
    )
    return Promise.all(
      chosen.map(async ({ plugin }) => ({ name: plugin.id, runs: (await threads.meterOf(plugin)).calls })),
    )
  }
}
