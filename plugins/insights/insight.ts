import { hash } from 'node:crypto'
import { z } from 'zod'
import type { TraceSummary } from '#kernel'
import { usdOf } from '#kit'

export const insightTypes = [
  'cost_waste',
  'pii_detected',
  'prompt_duplication',
  'error_rate',
  'model_concentration',
  'cacheable',
  'oversized_model',
  'unused_module',
] as const

export const insight = z.object({
  id: z.string().meta({ description: 'The same as long as it is about the same thing.' }),
  type: z.enum(insightTypes),
  severity: z.enum(['high', 'medium', 'low']),
  title: z.string(),
  description: z.string(),
  evidence: z.record(z.string(), z.unknown()),
  est_savings_usd: z.number().min(0).meta({
    description:
      'What the analyzed calls would have cost less, by what they did cost and by current prices; 0 where it is not about money, and where prices are not known.',
  }),
  created_at: z.string().meta({ format: 'date-time' }),
})
export type Insight = z.infer<typeof insight>

/** Something that an analysis says. Evidence is figures, names and ids of traces: never texts of calls. */
export interface Found extends Pick<Insight, 'type' | 'severity' | 'title' | 'description' | 'evidence'> {
  /** The thing it is about, such as a model; told apart by it. */
  readonly subject: string
  /** Nano-dollars. */
  readonly savedNano: number
}

/** The body of a request as it was stored. */
export type StoredRequest = Readonly<Record<string, unknown>>

/** Looks at traces one after the other, newest first, and says at the end what it has found. */
export interface Analysis {
  add?(trace: TraceSummary): void
  /** Called after `add` for traces whose request is stored as a whole, as far as the bounds allow. */
  addRequest?(trace: TraceSummary, request: StoredRequest): void
  found(): readonly Found[]
}

export function insightOf({ subject, savedNano, ...found }: Found, at: Date): Insight {
  return {
    id: `ins_${hash('sha256', `${found.type} ${subject}`).slice(0, 20)}`,
    ...found,
    est_savings_usd: usdOf(Math.max(0, savedNano)),
    created_at: at.toISOString(),
  }
}

/** Traces that evidence names. */
export const mostExamples = 5

/** Calls of one model at one provider: `openai/gpt-4o`. */
export const servedBy = ({ provider, model }: Pick<TraceSummary, 'provider' | 'model'>): string =>
  provider === undefined ? model : `${provider}/${model}`

export const percent = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.round((1000 * part) / whole) / 10

export const hasFailed = ({ status }: Pick<TraceSummary, 'status'>): boolean =>
  status === 'error' || status === 'timeout'
