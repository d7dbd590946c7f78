import type { Forms, InsightRecord } from '#kernel'
import { type Advice, adviceOn } from './advice.ts'
import { type Action, priorities } from './shapes.ts'
import { days, type Week } from './week.ts'

/** How things stand now. */
export interface Present {
  readonly week: Pick<Week, 'spendUsd'>
  readonly forms: Forms
  /** Whether a module is on; undefined where there is none of this name. */
  readonly isOn: (module: string) => boolean | undefined
}

/** What follows from insights, the most urgent first; nothing for what has been done since. */
export function actionsFor(insights: readonly InsightRecord[], present: Present): Action[] {
  return insights
    .flatMap((insight) => actionFor(insight, present) ?? [])
    .sort(
      (a, b) =>
        priorities.indexOf(a.priority) - priorities.indexOf(b.priority) ||
        (b.impact.usd_month ?? 0) - (a.impact.usd_month ?? 0),
    )
}

function actionFor(insight: InsightRecord, present: Present): Action | undefined {
  const advice = adviceOn[insight.type]?.(insight.evidence)
  if (!advice) return undefined
  // What guards removed or blocked needs nothing.
  if (insight.type === 'pii_detected' && insight.severity === 'low') return undefined
  const { module } = advice
  if (module) {
    const isOn = present.isOn(module.name)
    if (isOn === undefined || isOn === module.enabled) return undefined
  }
  const { est_savings_usd: saved } = insight
  const { spendUsd } = present.week
  const isMoney = saved > 0
  const isAutomatic = advice.isSafe && isMoney
  return {
    id: insight.id.replace('ins_', 'act_'),
    priority: priorityOf(insight, advice, spendUsd),
    category: advice.category,
    title: advice.title,
    description: `${insight.description} ${advice.description}`,
    impact: {
      usd_month: isMoney ? (saved * 30) / days : null,
      pct: isMoney && spendUsd > 0 ? Math.min(100, Math.round((1000 * saved) / spendUsd) / 10) : null,
    },
    confidence: confidenceOf(insight.evidence.calls),
    effort: !module ? 'manual' : isAutomatic ? 'automatic' : 'one_click',
    auto_apply: isAutomatic,
    change: module ? changeBy(module, present.forms) : null,
    evidence_trace_ids: (insight.evidence.trace_ids as string[] | undefined) ?? [],
    insight_id: insight.id,
  }
}

/** What is set of a module, with the switch and those settings over it. */
function changeBy({ name, enabled, config }: NonNullable<Advice['module']>, { modules = {} }: Forms) {
  const before = (modules[name] ?? null) as { config?: object } | null
  const after = { ...before, enabled, ...(config && { config: { ...before?.config, ...config } }) }
  return { path: `modules.${name}`, before, after }
}

function priorityOf({ severity, est_savings_usd }: InsightRecord, { category }: Advice, spendUsd: number) {
  if (category === 'safety') return 'critical'
  if (est_savings_usd > 0 && spendUsd > 0) {
    const part = est_savings_usd / spendUsd
    return part >= 0.1 ? 'high' : part >= 0.01 ? 'medium' : 'low'
  }
  return severity
}

function confidenceOf(calls: unknown): Action['confidence'] {
  if (typeof calls !== 'number' || calls < 20) return 'low'
  return calls >= 100 ? 'high' : 'medium'
}

/**
 * From A to F: 100 points, less the share of the cost that the best action saves, twice the share of calls that failed, and 10 for
 * personal data that passed; A from 90 on, B from 80, C from 70, D from 60.
 */
export function gradeOf(actions: readonly Action[], errorPct: number): 'A' | 'B' | 'C' | 'D' | 'F' {
  const saved = Math.max(0, ...actions.map(({ impact }) => impact.pct ?? 0))
  const isOpen = actions.some(({ category }) => category === 'safety')
  const points = 100 - saved - 2 * errorPct - (isOpen ? 10 : 0)
  return points >= 90 ? 'A' : points >= 80 ? 'B' : points >= 70 ? 'C' : points >= 60 ? 'D' : 'F'
}
