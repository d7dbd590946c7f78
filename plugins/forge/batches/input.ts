import { z } from 'zod'
import { visibility } from '#kit'
import { slug } from '../workflows/step.ts'
import { batchTypes } from './rows.ts'

const days = 14

const unitsMs = { s: 1000, m: 60_000, h: 3_600_000, d: 24 * 3_600_000 }

const window = z
  .string()
  .regex(/^[1-9]\d{0,6}[smhd]$/)
  .refine((text) => msOf(text) <= days * unitsMs.d, `is ${days} days at the most`)

const concurrency = z.int().min(1).max(100)
const maxAttempts = z.int().min(1).max(10)
const cost = z.number().positive().max(1_000_000)
const wait = z.int().min(0).max(60_000)

export const maxCost = cost.meta({
  description: 'The batch pauses when it has cost so much; what it costs above that is about one item.',
})
export const completionWindow = window.meta({
  description:
    'Time such as 24h or 30m, in s, m, h or d, after which the batch ends as expired; 24h without it.',
})

const options = {
  type: z.enum(batchTypes).default('chat').meta({
    description: 'What each item is: a body of a model call, or an input of a workflow.',
  }),
  name: z.string().min(1).max(200).optional(),
  model: z.string().min(1).max(256).optional().meta({ description: 'Of the items that name none.' }),
  workflow: slug.optional().meta({ description: 'The workflow that is run with each item.' }),
  project: z.string().min(1).max(100).default('default').meta({ description: 'Of the calls.' }),
  visibility: visibility.optional(),
  completion_window: completionWindow.default('24h'),
  use_provider_batch: z.enum(['auto', 'never']).default('auto').meta({
    description: 'The gateway makes each call itself either way: it uses no batches of providers yet.',
  }),
}

const about = {
  concurrency: { description: 'How many items are made at a time; as many as the settings allow at most.' },
  max_attempts: { description: 'How often an item is tried whose failure may pass.' },
  wait_ms: { description: 'How long the answer may wait for the end of the batch.' },
}

/** A batch whose items stand in the body. */
export const newBatch = z.strictObject({
  ...options,
  input: z
    .array(z.unknown())
    .min(1)
    .meta({ description: 'Bodies of calls or inputs of the workflow, each bare or as `{custom_id, body}`.' }),
  concurrency: concurrency.default(5).meta(about.concurrency),
  max_attempts: maxAttempts.default(3).meta(about.max_attempts),
  max_cost_usd: maxCost.optional(),
  wait_ms: wait.default(0).meta(about.wait_ms),
})

const number = z.coerce.number()

/** A batch whose items come as a file. */
export const fileBatch = z.strictObject({
  ...options,
  concurrency: number.pipe(concurrency).default(5).meta(about.concurrency),
  max_attempts: number.pipe(maxAttempts).default(3).meta(about.max_attempts),
  max_cost_usd: number.pipe(cost).optional(),
  wait_ms: number.pipe(wait).default(0).meta(about.wait_ms),
})
export type Options = Omit<z.infer<typeof newBatch>, 'input'>

const msOf = (text: string): number =>
  Number.parseInt(text, 10) * unitsMs[text.at(-1) as keyof typeof unitsMs]

/** When a window ends that begins now. */
export const endOf = (text: string): string => new Date(Date.now() + msOf(text)).toISOString()
