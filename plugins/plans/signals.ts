import { type Context, Figures, type Tier, TraceReader, tiers, type UpgradePrompt } from '#kernel'
import type { Entitlements } from './entitlements.ts'
import { once, type Prompts } from './prompts.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const milestones = [1_000_000, 100_000, 10_000, 1000]
/** Fewer calls say nothing of a rate. */
const leastCalls = 100
const highRate = 0.1
/** The newest calls, among which personal data is looked for. */
const mostTraces = 1000

/** Looks in the figures of all calls for what speaks for a larger license. */
export class Signals {
  readonly #context: Pick<Context<unknown>, 'find'>
  readonly #prompts: Prompts
  readonly #entitlements: Entitlements

  constructor(context: Pick<Context<unknown>, 'find'>, prompts: Prompts, entitlements: Entitlements) {
    this.#context = context
    this.#prompts = prompts
    this.#entitlements = entitlements
  }

  async check(now = Date.now()): Promise<void> {
    const targetTier = this.#target()
    if (!this.#entitlements.actsHere || !targetTier) return
    for (const seen of [await this.#milestone(now), await this.#errors(now), await this.#personalData(now)])
      if (seen) await this.#prompts.suggest({ ...seen, targetTier })
  }

  /** The tier above the license, or `pro` without one. */
  #target(): Tier | undefined {
    const { license } = this.#entitlements
    if (!license) return 'pro'
    return tiers[tiers.indexOf(license.tier) + 1]
  }

  async #milestone(now: number): Promise<Seen | undefined> {
    const days = await this.#context.find(Figures)?.byDay(0, Math.floor(now / dayMs))
    const total = [...(days?.values() ?? [])].reduce((sum, { requests }) => sum + requests, 0)
    const reached = milestones.find((milestone) => total >= milestone)
    return reached === undefined
      ? undefined
      : {
          trigger: `trace_milestone_${reached}`,
          period: once,
          until: now + 30 * dayMs,
          priority: 'low',
          title: `There are ${reached.toLocaleString('en')} traces`,
          message: `This gateway has recorded ${total.toLocaleString('en')} calls.`,
          details: { traces: total, milestone: reached },
        }
  }

  async #errors(now: number): Promise<Seen | undefined> {
    const sums = await this.#context.find(Figures)?.since('total', '', now - hourMs)
    if (!sums || sums.requests < leastCalls || sums.errors < highRate * sums.requests) return undefined
    const percent = Math.round((100 * sums.errors) / sums.requests)
    return {
      trigger: 'error_rate_high',
      period: new Date(now).toISOString().slice(0, 10),
      until: now + dayMs,
      priority: 'high',
      title: 'Many calls fail',
      message: `${percent} % of the ${sums.requests} calls of the last hour failed.`,
      details: { requests: sums.requests, errors: sums.errors },
    }
  }

  async #personalData(now: number): Promise<Seen | undefined> {
    const traces = this.#context.find(TraceReader)?.scan({ from: now - hourMs })
    if (!traces) return undefined
    let [looked, found] = [0, 0]
    for await (const { findings = [] } of traces) {
      if (findings.some(({ type }) => type === 'pii')) found += 1
      looked += 1
      if (looked === mostTraces) break
    }
    const next = new Date(now)
    return found === 0
      ? undefined
      : {
          trigger: 'pii_detected',
          period: next.toISOString().slice(0, 7),
          until: Date.UTC(next.getUTCFullYear(), next.getUTCMonth() + 1),
          priority: 'high',
          title: 'Calls contain personal data',
          message: `Guards found personal data in ${found} of the last ${looked} calls.`,
          details: { calls: found, of: looked },
        }
  }
}

type Seen = Omit<UpgradePrompt, 'targetTier'>
