import { z } from 'zod'
import { isGlob, stickies } from '#kit'

const model = z.string().min(1).max(256)
const percent = z.number().min(0).max(100)

const steps = z
  .array(z.number().gt(0).max(100))
  .min(1)
  .max(50)
  .refine((all) => all.every((step, at) => at === 0 || step > all[at - 1]!), 'must grow')

/** A gradual move from one model to another, as an operator describes it. */
export const rolloutSchema = z.strictObject({
  model: model.meta({ title: 'Stable', description: 'A model or a glob whose calls are moved.' }),
  target: model
    .refine((target) => !isGlob(target), 'is one model, not a glob')
    .meta({ title: 'Canary', description: 'The new model, or provider/model.' }),
  steps: steps.default([1, 5, 25, 50, 100]).meta({
    title: 'Steps',
    description: 'Percentages of the calls that go to the new model, one after the other.',
  }),
  step_s: z.number().min(0).max(2_592_000).default(3600).meta({
    title: 'Time for a step',
    description: 'Seconds for which a step lasts at least.',
  }),
  min_calls: z.int().min(1).max(1_000_000).default(50).meta({
    title: 'Calls for a step',
    description: 'Calls that the new model answers at least before the next step.',
  }),
  window_s: z.number().min(1).max(86_400).default(300).meta({
    title: 'Window',
    description: 'Seconds over which the two models are compared.',
  }),
  max_error_rate: z.number().min(0).max(1).default(0.02).meta({
    title: 'More errors',
    description:
      'By how much the share of failed calls may be above that of the stable model: 0.02 for two in a hundred.',
  }),
  max_latency_ratio: z.number().min(1).max(1000).default(1.5).meta({
    title: 'Slower',
    description:
      "How many times the stable model's 95th percentile of latency a call may take; one in twenty may take longer.",
  }),
  sticky: z.enum(stickies).default('user').meta({
    title: 'Sticky',
    description:
      'What is chosen together: the calls of a user, those of a session (X-Session-Id), or each call by itself.',
  }),
})

export type Rollout = z.infer<typeof rolloutSchema>

export const statuses = ['running', 'completed', 'rolled_back'] as const

const change = z.object({
  at: z.string().meta({ format: 'date-time' }),
  status: z.enum(statuses),
  percent,
  reason: z.string(),
})

/** How far a rollout is, as it is stored. */
export const standingSchema = z.object({
  /** What it moves: another pair of models begins anew. */
  of: z.string(),
  /** Grows with each new beginning. */
  run: z.int(),
  status: z.enum(statuses),
  percent,
  /** When this step began. */
  since: z.string(),
  reason: z.string(),
  /** The latest changes, newest last. */
  history: z.array(change),
})

export type Standing = z.infer<typeof standingSchema>
export type Move = Pick<Standing, 'status' | 'percent' | 'reason'>

const mostHistory = 50

/** The standing after a change. */
export function moved(standing: Standing, move: Move): Standing {
  const at = new Date().toISOString()
  const history = [...standing.history, { at, ...move }].slice(-mostHistory)
  return { ...standing, ...move, since: at, history }
}

/** The standing of a rollout that begins, after those of the same name before. */
export function begun({ steps }: Rollout, of: string, run: number, reason: string): Standing {
  const blank: Standing = { of, run, status: 'running', percent: 0, since: '', reason: '', history: [] }
  return moved(blank, { status: 'running', percent: steps[0]!, reason })
}

export const pairOf = ({ model, target }: Rollout): string => JSON.stringify([model, target])
