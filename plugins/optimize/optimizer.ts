import type { z } from 'zod'
import { type Context, Figures, Insights, kernelServices } from '#kernel'
import type { Changes } from './changes.ts'
import { actionsFor, gradeOf } from './recommend.ts'
import type { Action, Report, stage } from './shapes.ts'
import { days, readWeek, type Week } from './week.ts'

/** Calls of a week below which nothing is recommended. */
export const tracesNeeded = 10

type Stage = z.infer<typeof stage>
type Actor = Parameters<Changes['make']>[1]

/** Looks at the calls of a week, and says what to change; does so itself where that is asked for and safe. */
export class Optimizer {
  readonly #use: Context<unknown>['use']
  readonly #changes: Changes

  constructor({ use }: Pick<Context<unknown>, 'use'>, changes: Changes) {
    this.#use = use
    this.#changes = changes
  }

  week(): Promise<Week> {
    return readWeek(this.#use(Figures))
  }

  async run(apply: boolean, actor: Actor): Promise<Report> {
    const began = performance.now()
    const stages: Stage[] = []
    const timed = async <T>(name: Stage['name'], work: () => Promise<T>, findings: (made: T) => number) => {
      const from = performance.now()
      const made = await work()
      stages.push({ name, status: 'done', duration_ms: since(from), findings: findings(made) })
      return made
    }
    const week = await timed(
      'observe',
      () => this.week(),
      ({ requests }) => requests,
    )
    if (week.requests < tracesNeeded) {
      for (const name of ['score', 'analyze', 'recommend'] as const)
        stages.push({ name, status: 'skipped', duration_ms: 0, findings: 0 })
      return {
        ...reportOf(week, [], { complete: true, traces: 0, insights: 0 }),
        ...times(began),
        stages,
        applied: [],
      }
    }
    const configured = await timed(
      'score',
      () => this.#changes.read(),
      () => week.models,
    )
    const found = await timed(
      'analyze',
      () => this.#use(Insights).of(undefined, days),
      ({ all }) => all.length,
    )
    const actions = await timed(
      'recommend',
      async () => actionsFor(found.all, { week, forms: configured.sections, isOn: this.#isOn }),
      ({ length }) => length,
    )
    const applied = apply ? await this.#changes.make(actions, actor) : []
    const about = { complete: found.complete, traces: found.traces_analyzed, insights: found.all.length }
    return { ...reportOf(week, actions, about), ...times(began), stages, applied }
  }

  /** Whether a module is on; undefined where there is none. */
  readonly #isOn = (name: string): boolean | undefined =>
    this.#use(kernelServices.registry).plugins.find(
      ({ id, binding, manifest }) => id === name && !binding && manifest?.kind === 'module',
    )?.setting?.enabled
}

const since = (from: number): number => Math.round(performance.now() - from)
const times = (began: number) => ({ generated_at: new Date().toISOString(), duration_ms: since(began) })

function reportOf(
  { requests, errors, spendUsd, models, providers }: Week,
  actions: Action[],
  about: { readonly complete: boolean; readonly traces: number; readonly insights: number },
): Pick<Report, 'summary' | 'actions' | 'next_steps'> {
  const errorPct = requests === 0 ? 0 : Math.round((1000 * errors) / requests) / 10
  const hasEnough = requests >= tracesNeeded
  return {
    summary: {
      traces_analyzed: about.traces,
      complete: about.complete,
      total_spend_usd: spendUsd,
      projected_monthly_savings_usd: Math.max(0, ...actions.map(({ impact }) => impact.usd_month ?? 0)),
      models_used: models,
      providers_used: providers,
      error_rate_pct: errorPct,
      insights_found: about.insights,
      action_count: actions.length,
      grade: hasEnough ? gradeOf(actions, errorPct) : null,
    },
    actions,
    next_steps: hasEnough
      ? nextSteps(actions)
      : [
          `Make ${tracesNeeded - requests} more calls: nothing is recommended below ${tracesNeeded} in a week.`,
        ],
  }
}

function nextSteps(actions: readonly Action[]): string[] {
  const safe = actions.filter(({ auto_apply }) => auto_apply).length
  const others = actions.filter(({ auto_apply }) => !auto_apply)
  return [
    ...(safe > 0 ? [`Send {"apply": true} for ${safe} that ${safe === 1 ? 'is' : 'are'} safe.`] : []),
    ...others.slice(0, 5).map(({ title }) => `${title}.`),
  ]
}
