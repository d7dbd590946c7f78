import { z } from 'zod'
import { changeBy, type Quality, type RunRow, type Side, tokensOf } from '../runs/row.ts'

const winner = z.enum(['left', 'right', 'tie']).nullable()
export type Winner = z.infer<typeof winner>

export const winners = z
  .object({
    cost: winner.meta({ description: 'The cheaper one.' }),
    speed: winner.meta({ description: 'The faster one.' }),
    efficiency: winner.meta({
      description:
        'The one with more output tokens for each dollar and second: `tokens_out / (cost_usd · latency in s)`.',
    }),
    quality: winner.meta({
      description: 'The one whose answer is JSON, where the call asked for JSON and the other one is not.',
    }),
    overall: winner.meta({ description: 'The one that wins more of the others.' }),
  })
  .meta({ description: 'Null where a figure is not known, and for a run without an answer.' })
export type Winners = z.infer<typeof winners>

const change = z.number().nullable()

export const delta = z
  .object({
    cost_usd: change,
    cost_pct: change,
    latency_ms: change,
    latency_pct: change,
    tokens: change,
    tokens_pct: change,
  })
  .meta({
    description: 'How much more the right one has; a share of zero, or of what is not known, is null.',
  })

/** Output tokens per dollar and second; null where that is not known, or nothing was paid or waited for. */
export function efficiencyOf({ tokens_out, cost_usd, latency_ms }: Side): number | null {
  if (tokens_out === null || !cost_usd || !latency_ms) return null
  return (tokens_out * 1000) / (cost_usd * latency_ms)
}

/** Which of the two calls of a run is better, figure by figure. */
export function winnersOf({
  status,
  source,
  target,
  quality,
}: Pick<RunRow, 'status' | 'source' | 'target' | 'quality'>): Winners {
  if (status !== 'success') return { cost: null, speed: null, efficiency: null, quality: null, overall: null }
  const each = {
    cost: lower(source.cost_usd, target.cost_usd),
    speed: lower(source.latency_ms, target.latency_ms),
    efficiency: lower(negative(efficiencyOf(source)), negative(efficiencyOf(target))),
    quality: betterJson(quality),
  }
  return { ...each, overall: most(Object.values(each)) }
}

/** How much more the target of a run has than its source, also in percent. */
export function deltaOf({ source, target }: Pick<RunRow, 'source' | 'target'>): z.infer<typeof delta> {
  const tokens = [tokensOf(source), tokensOf(target)] as const
  return {
    cost_usd: changeBy(source.cost_usd, target.cost_usd),
    cost_pct: percentBy(source.cost_usd, target.cost_usd),
    latency_ms: changeBy(source.latency_ms, target.latency_ms),
    latency_pct: percentBy(source.latency_ms, target.latency_ms),
    tokens: changeBy(...tokens),
    tokens_pct: percentBy(...tokens),
  }
}

const negative = (value: number | null): number | null => (value === null ? null : -value)

function lower(left: number | null, right: number | null): Winner {
  if (left === null || right === null) return null
  if (left === right) return 'tie'
  return left < right ? 'left' : 'right'
}

function betterJson({ source_json_valid: left, json_valid: right }: Quality): Winner {
  if (left === null || right === null) return null
  if (left === right) return 'tie'
  return left ? 'left' : 'right'
}

function most(each: readonly Winner[]): Winner {
  const wins = (side: Winner): number => each.filter((one) => one === side).length
  if (each.every((one) => one === null)) return null
  const lead = wins('left') - wins('right')
  if (lead === 0) return 'tie'
  return lead > 0 ? 'left' : 'right'
}

function percentBy(before: number | null, after: number | null): number | null {
  const by = changeBy(before, after)
  return by === null || !before ? null : Math.round((by / before) * 10_000) / 100
}
