import { expect, test } from 'vitest'
import type { Quality, RunRow, Side } from '../runs/row.ts'
import { deltaOf, efficiencyOf, type Winners, winnersOf } from './winners.ts'

const side = (more: Partial<Side> = {}): Side => ({
  trace_id: 'tr_a',
  model: 'm',
  provider: 'p',
  tokens_in: 10,
  tokens_out: 20,
  cost_usd: 0.001,
  latency_ms: 500,
  ttft_ms: null,
  ...more,
})

const run = (source: Side, target: Side, more: Partial<RunRow> = {}): RunRow => ({
  id: 'rpl_a',
  status: 'success',
  visibility: 'private',
  source,
  target,
  quality: json(null, null),
  overrides: '{}',
  created_at: '2026-11-23T00:00:00.000Z',
  ...more,
})

const json = (source_json_valid: boolean | null, json_valid: boolean | null): Quality => ({
  similarity: 1,
  json_valid,
  source_json_valid,
})

const none = { cost: null, speed: null, efficiency: null, quality: null, overall: null }

test.each<[string, RunRow, Partial<Winners>]>([
  ['equal calls', run(side(), side()), { cost: 'tie', speed: 'tie', efficiency: 'tie', overall: 'tie' }],
  [
    'a cheaper and slower one',
    run(side(), side({ cost_usd: 0.0001, latency_ms: 600 })),
    { cost: 'right', speed: 'left', efficiency: 'right', overall: 'right' },
  ],
  [
    'one win each',
    run(side(), side({ cost_usd: 0, latency_ms: 600 })),
    { cost: 'right', speed: 'left', efficiency: null, overall: 'tie' },
  ],
  [
    'a price that is not known',
    run(side(), side({ cost_usd: null, latency_ms: 400 })),
    { cost: null, efficiency: null, overall: 'right' },
  ],
  ['a run without an answer', run(side(), side(), { status: 'error' }), none],
  [
    'JSON on one side',
    run(side(), side(), { quality: json(false, true) }),
    { quality: 'right', overall: 'right' },
  ],
  ['no JSON wanted', run(side(), side()), { quality: null }],
])('the winners of %s', (_, row, winners) => {
  expect(winnersOf(row)).toMatchObject(winners)
})

test('the efficiency is output tokens per dollar and second, and null where nothing was paid', () => {
  expect(efficiencyOf(side())).toBe(40_000)
  expect(efficiencyOf(side({ cost_usd: 0 }))).toBeNull()
  expect(efficiencyOf(side({ latency_ms: 0 }))).toBeNull()
})

test('changes in percent of zero and of what is not known are null', () => {
  expect(deltaOf(run(side(), side({ cost_usd: 0.0015, tokens_out: 5 })))).toEqual({
    cost_usd: 0.0005,
    cost_pct: 50,
    latency_ms: 0,
    latency_pct: 0,
    tokens: -15,
    tokens_pct: -50,
  })
  const { cost_usd, cost_pct, tokens } = deltaOf(run(side({ cost_usd: 0 }), side({ tokens_in: null })))
  expect([cost_usd, cost_pct, tokens]).toEqual([0.001, null, null])
})
