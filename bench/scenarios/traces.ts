import type { Engine, Log } from '../../storage/index.ts'
import { prose } from '../request.ts'

export const HOUR_MS = 3_600_000
export const START_MS = Date.UTC(2026, 0, 1)
/** A row every so many milliseconds: a hundred thousand of them are about eleven days. */
export const STEP_MS = 10_000

export const MODELS = [
  'gpt-4o',
  'gpt-4o-mini',
  'claude-sonnet-4-5',
  'gemini-2.5-pro',
  'mistral-large',
] as const
export const USERS = 50

export type Trace = ReturnType<typeof traceOf>

/** The log as the gateway's own would be: five fields to filter by, and totals by hour and model. */
export function openTraces(engine: Engine): Log<Trace> {
  return engine.log<Trace>('traces', {
    id: (row) => row.id,
    time: (row) => row.time,
    fields: {
      model: (row) => row.model,
      provider: (row) => row.provider,
      user_id: (row) => row.user_id,
      project: (row) => row.project,
      status: (row) => row.status,
    },
    numbers: { latency_ms: (row) => row.latency_ms },
    rollup: (row, add) => {
      const hour = new Date(row.time - (row.time % HOUR_MS)).toISOString().slice(0, 13)
      add([`${hour}/${row.model}`], { requests: 1, cost_nano_usd: row.cost_nano_usd, tokens: row.tokens_in })
    },
  })
}

/** The n-th trace: about 900 bytes as JSON. */
export function traceOf(n: number) {
  return {
    id: `tr_${String(n).padStart(26, '0')}`,
    time: START_MS + n * STEP_MS,
    model: MODELS[n % MODELS.length]!,
    provider: n % 5 < 2 ? 'openai' : 'other',
    user_id: `usr_${n % USERS}`,
    project: n % 3 === 0 ? 'docs' : 'default',
    status: n % 40 === 0 ? 'error' : 'ok',
    status_code: n % 40 === 0 ? 502 : 200,
    latency_ms: 500 + (n % 1000),
    tokens_in: 100 + (n % 400),
    tokens_out: 50 + (n % 200),
    cost_nano_usd: 100_000 + n,
    tags: { team: 'search', release: `r${n % 7}` },
    attempts: [{ n: 1, provider: 'openai', status: 200, latency_ms: 480, key_hint: 'sk-…abcd' }],
    detail: texts.details[n % texts.details.length]!,
  }
}

/** Details and bodies in stock, each of other words: one text repeated would compress to nothing. */
const texts = {
  details: Array.from({ length: 64 }, (_, seed) => ramble(seed, 450)),
  bodies: Array.from({ length: 256 }, (_, seed) =>
    JSON.stringify({ request: ramble(seed + 64, 700), response: ramble(seed + 320, 700) }),
  ),
}

/** The body of the n-th trace, about 1,400 bytes. */
export function bodyOf(n: number): string | undefined {
  return texts.bodies[n % texts.bodies.length]
}

/** Words in an order that the seed decides. */
function ramble(seed: number, length: number): string {
  const words = prose(2000).split(' ').filter(Boolean)
  let state = seed
  let text = ''
  while (text.length < length) {
    // The generator of Numerical Recipes: any full period does here.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    text += `${words[state % words.length]}${state % 100} `
  }
  return text.slice(0, length)
}
