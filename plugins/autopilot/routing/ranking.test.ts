import { describe, expect, test } from 'vitest'
import { configuration } from '../configuration/fields.ts'
import type { ScoreRow } from '../scores/row.ts'
import { Ranking } from './ranking.ts'

const row = (model: string, fields: Partial<ScoreRow> = {}): ScoreRow => ({
  ...{
    model,
    reference: 'ref',
    samples: 40,
    hits: 40,
    asked: 40,
    answered: 40,
    latency_ms: 100,
    p95_latency_ms: 100,
  },
  ...{
    tokens_out: 10,
    cost_ratio: 0.5,
    latency_ratio: 0.5,
    calibration_id: 'cal_1',
    at: '2026-11-24T00:00:00.000Z',
  },
  ...fields,
})

/** A ranking of models with these scores. */
function ranked(rows: readonly ScoreRow[], settings: object = {}): Ranking {
  const all = [row('ref', { cost_ratio: 1, latency_ratio: 1 }), ...rows]
  const current = configuration.parse({
    ...{ enabled: true, reference_model: 'ref', candidate_models: rows.map(({ model }) => model) },
    ...settings,
  })
  const scores = { all, of: (model: string) => all.find((score) => score.model === model) }
  return new Ranking({ current, updatedAt: 'now' }, scores)
}

const names = (ranking: Ranking): string[] => ranking.now.better.map(({ score }) => score.model)

describe('models that qualify', () => {
  const rows = [
    row('cheap', { cost_ratio: 0.1, latency_ratio: 0.9 }),
    row('fast', { cost_ratio: 0.8, latency_ratio: 0.1 }),
    row('even', { cost_ratio: 0.3, latency_ratio: 0.4 }),
    row('dear', { cost_ratio: 1.5, latency_ratio: 0.3 }),
    row('slow', { cost_ratio: 0.2, latency_ratio: 3 }),
    row('unpriced', { cost_ratio: undefined, latency_ratio: 0.2 }),
  ]
  test.each([
    ['cost', ['cheap', 'slow', 'even', 'fast']],
    ['speed', ['fast', 'unpriced', 'dear', 'even', 'cheap']],
    ['balanced', ['even', 'fast', 'cheap', 'dear']],
  ])('come in the order of the mode %s, where they do better than the reference model', (mode, order) =>
    expect(names(ranked(rows, { mode }))).toEqual(order),
  )
})

describe('a model does not qualify', () => {
  test.each<[string, Partial<ScoreRow>, object?]>([
    ['below the bound', { hits: 36 }],
    ['with few samples', { samples: 10, hits: 10 }],
    ['with none', { samples: 0, hits: 0 }],
    ['that fails too often', { answered: 31 }],
    ['that is suspended', { suspended: { at: '', reason: 'it failed' } }],
    ['that was compared with another model', { reference: 'other' }],
    ['that is slower than it may be', { latency_ms: 500 }, { guard: { max_latency_ms: 400 } }],
    ['that is no candidate any more', {}, { candidate_models: [] }],
  ])('%s', (_, fields, settings) => {
    expect(names(ranked([row('fit', {})]))).toEqual(['fit'])
    const ranking = ranked([row('unfit', fields)], settings)
    expect(names(ranking)).toEqual([])
    expect(ranking.now.standings.find(({ score }) => score.model === 'unfit')!.problem).toBeDefined()
  })
})

test('the state says whether there is a model to route to', () => {
  const [good, bad, out] = [
    row('good'),
    row('bad', { hits: 0 }),
    row('out', { suspended: { at: '', reason: '' } }),
  ]
  expect(ranked([good], { enabled: false }).state).toBe('off')
  expect(ranked([]).state).toBe('uncalibrated')
  expect(ranked([good, bad]).state).toBe('ready')
  expect(ranked([bad]).state).toBe('degraded')
  expect(ranked([good, out]).state).toBe('degraded')
})

test('the edition is another one whenever calls may be routed otherwise', () => {
  const editions = [
    [row('a')],
    [row('b')],
    [row('a', { calibration_id: 'cal_2' })],
    [row('a', { suspended: { at: 'x', reason: '' } })],
  ]
  expect(new Set(editions.map((rows) => ranked(rows).now.edition)).size).toBe(4)
  expect(ranked([row('a')]).now.edition).toBe(ranked([row('a')]).now.edition)
})
