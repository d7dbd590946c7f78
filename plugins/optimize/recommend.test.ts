import { expect, test } from 'vitest'
import type { InsightRecord } from '#kernel'
import { actionsFor, gradeOf, type Present } from './recommend.ts'

const insight = (type: string, more: Partial<InsightRecord> = {}): InsightRecord => ({
  id: `ins_${type}`,
  type,
  severity: 'medium',
  title: type,
  description: 'So it is.',
  evidence: {
    calls: 30,
    model: 'openai/gpt-4o',
    cheaper_model: 'openai/gpt-4o-mini',
    module: 'loadshed',
    trace_ids: ['tr_1'],
  },
  est_savings_usd: 0,
  ...more,
})

const present = (on: readonly string[] = [], modules = {}): Present => ({
  week: { spendUsd: 70 },
  forms: { modules },
  isOn: (name) => on.includes(name),
})

test('of all insights only those that change no text are safe to act on by itself', () => {
  const types = [
    'cacheable',
    'prompt_duplication',
    'oversized_model',
    'cost_waste',
    'error_rate',
    'model_concentration',
    'unused_module',
  ]
  const all = [
    ...types.map((type) => insight(type, { est_savings_usd: 7 })),
    insight('pii_detected', { severity: 'high' }),
  ]
  const actions = actionsFor(all, present(['loadshed']))
  expect(actions).toHaveLength(8)
  const safe = actions.filter(({ auto_apply }) => auto_apply)
  expect(safe.map(({ change }) => change)).toEqual([
    { path: 'modules.cachelayer', before: null, after: { enabled: true } },
    { path: 'modules.prefixcache', before: null, after: { enabled: true, config: { sort: false } } },
  ])
  expect(actions[0]).toMatchObject({ priority: 'critical', category: 'safety', auto_apply: false })
  for (const { impact, effort, change } of actions) {
    expect(effort === 'manual').toBe(change === null)
    if (impact.usd_month !== null) expect(impact).toEqual({ usd_month: 30, pct: 10 })
  }
})

test('what has been done since is not asked for again, and what is set stays', () => {
  const all = [insight('cacheable', { est_savings_usd: 1 }), insight('unused_module')]
  expect(actionsFor(all, present(['cachelayer']))).toEqual([])
  const [action] = actionsFor(all, present([], { cachelayer: { config: { ttl_s: 5 }, enabled: false } }))
  expect(action?.change).toEqual({
    path: 'modules.cachelayer',
    before: { config: { ttl_s: 5 }, enabled: false },
    after: { config: { ttl_s: 5 }, enabled: true },
  })
})

test('without money nothing is applied, and personal data that was kept back needs nothing', () => {
  const [action] = actionsFor([insight('cacheable')], present())
  expect(action).toMatchObject({
    auto_apply: false,
    effort: 'one_click',
    impact: { usd_month: null, pct: null },
  })
  expect(actionsFor([insight('pii_detected', { severity: 'low' })], present())).toEqual([])
})

test('priority goes by the part of the cost, confidence by the calls', () => {
  const of = (est_savings_usd: number, calls: number) => {
    const [{ priority, confidence } = { priority: '', confidence: '' }] = actionsFor(
      [insight('cacheable', { est_savings_usd, evidence: { calls } })],
      present(),
    )
    return [priority, confidence]
  }
  expect([of(7, 100), of(0.7, 20), of(0.1, 19)]).toEqual([
    ['high', 'high'],
    ['medium', 'medium'],
    ['low', 'low'],
  ])
})

test('the grade falls with savings that are left, with failures and with personal data that passed', () => {
  const saving = actionsFor([insight('cacheable', { est_savings_usd: 14 })], present())
  const open = actionsFor([insight('pii_detected', { severity: 'high' })], present())
  expect([
    gradeOf([], 0),
    gradeOf([], 10),
    gradeOf(saving, 0),
    gradeOf(open, 0),
    gradeOf(saving, 11),
  ]).toEqual(['A', 'B', 'B', 'A', 'F'])
})
