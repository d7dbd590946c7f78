import { z } from 'zod'
import type { Attempt, Fault } from '#kernel'
import { compileGlobs } from '#kit'
import { draws } from './draws.ts'

const common = {
  percent: z.number().min(0).max(100).default(10).meta({
    title: 'Percentage',
    description: 'Percentage of the attempts that get this fault.',
  }),
  models: z.array(z.string().min(1).max(256)).min(1).default(['*']).meta({
    title: 'Models',
    description: 'Models as names or globs, such as `gpt-4o*` or `anthropic/*`.',
  }),
}

const ms = (usual: number, description: string) =>
  z.int().min(1).max(600_000).default(usual).meta({ title: 'Time', description })

const fault = <K extends string, F extends z.ZodRawShape>(kind: K, fields: F) =>
  z.strictObject({
    fault: z.literal(kind).meta({ title: 'Fault', description: 'What goes wrong.' }),
    ...common,
    ...fields,
  })

export const ruleSchema = z.discriminatedUnion('fault', [
  fault('latency', { ms: ms(2000, 'Milliseconds by which the answer begins later.') }),
  fault('rate_limit', {
    retry_after_s: z.int().min(0).max(3600).optional().meta({
      title: 'Retry after',
      description: 'Seconds that the provider asks to wait; it does not say if absent.',
    }),
  }),
  fault('server_error', {
    status: z.int().min(500).max(599).default(500).meta({
      title: 'Status',
      description: 'The HTTP status of the provider.',
    }),
  }),
  fault('reset', {}),
  fault('truncated', {
    after_bytes: z.int().min(1).max(10_000_000).default(1000).meta({
      title: 'Bytes',
      description: 'Bytes of the answer after which the connection breaks; at its end if it is shorter.',
    }),
  }),
  fault('malformed', {}),
  fault('drip', {
    bytes: z.int().min(1).max(65_536).default(20).meta({
      title: 'Bytes',
      description: 'Bytes of each piece of the answer.',
    }),
    gap_ms: ms(100, 'Milliseconds before each piece.'),
  }),
])

export type Rule = z.infer<typeof ruleSchema>

/** Draws for each attempt: the fault of the first rule that hits, with its name. Each rule has its own sequence of draws. */
export function faultsOf(
  rules: readonly Rule[],
  seed: number,
): (attempt: Attempt) => { readonly name: Rule['fault']; readonly fault: Fault } | undefined {
  const all = rules.map((rule, i) => ({
    name: rule.fault,
    fault: faultOf(rule),
    percent: rule.percent,
    matches: compileGlobs(rule.models),
    draw: draws(seed, i),
  }))
  return ({ provider, model }) => {
    const hits = all.filter(
      ({ matches, percent, draw }) =>
        (matches(model) || matches(`${provider}/${model}`)) && draw() * 100 < percent,
    )
    return hits[0]
  }
}

function faultOf(rule: Rule): Fault {
  switch (rule.fault) {
    case 'latency':
      return { kind: 'latency', ms: rule.ms }
    case 'rate_limit':
      return { kind: 'status', status: 429, retryAfterS: rule.retry_after_s }
    case 'server_error':
      return { kind: 'status', status: rule.status }
    case 'truncated':
      return { kind: 'truncated', afterBytes: rule.after_bytes }
    case 'drip':
      return { kind: 'drip', bytes: rule.bytes, gapMs: rule.gap_ms }
    default:
      return { kind: rule.fault }
  }
}
