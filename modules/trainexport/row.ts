import { z } from 'zod'
import { forms } from './forms.ts'

export const parts = ['train', 'validation'] as const
export type Part = (typeof parts)[number]

export const statuses = ['building', 'ready', 'failed', 'erased'] as const

/** Which calls a set is made of. All conditions must hold. */
export const selection = z.strictObject({
  model: z.string().min(1).max(256).optional().meta({ description: 'As asked for, or as sent on.' }),
  provider: z.string().min(1).max(100).optional(),
  project: z.string().min(1).max(256).optional(),
  user_id: z.string().min(1).max(200).optional(),
  tags: z
    .record(z.string().min(1).max(128), z.string().max(128))
    .refine((tags) => Object.keys(tags).length <= 20, 'must have at most 20 tags')
    .optional()
    .meta({ description: 'Tags that a call must have.' }),
  template: z.string().min(1).max(200).optional().meta({ description: 'As feedback names it.' }),
  from: z.iso.datetime({ offset: true }).optional().meta({ description: 'Calls that began then or later.' }),
  to: z.iso.datetime({ offset: true }).optional().meta({ description: 'Calls that began before.' }),
  min_score: z
    .number()
    .min(0)
    .max(5)
    .optional()
    .meta({ description: 'In place of the setting: the least mean rating in stars.' }),
})
export type Selection = z.infer<typeof selection>

export const wish = selection.extend({
  name: z.string().min(1).max(200).optional(),
  strip_system: z.boolean().default(false).meta({ description: 'Leaves out system texts.' }),
  validation_share: z
    .number()
    .min(0)
    .max(0.5)
    .default(0.1)
    .meta({ description: 'The share of the calls that are for validation. It is the same calls each time.' }),
})
export type Wish = z.infer<typeof wish>

/** Why calls that were looked at are not in a set. */
export const reasons = [
  'status',
  'opted_out',
  'not_allowed',
  'tags',
  'score',
  'no_body',
  'form',
  'duplicate',
] as const
export type Reason = (typeof reasons)[number]

export const counts = z.object({
  looked_at: z.int(),
  train: z.int(),
  validation: z.int(),
  left_out: z.partialRecord(z.enum(reasons), z.int()),
})
export type Counts = z.infer<typeof counts>

export const file = z.object({
  form: z.enum(forms),
  part: z.enum(parts),
  lines: z.int(),
  size: z.int().meta({ description: 'In bytes.' }),
  sha256: z.string(),
})
export type File = z.infer<typeof file>

export const setRow = z.object({
  id: z.string(),
  status: z.enum(statuses),
  created_at: z.string(),
  finished_at: z.string().optional(),
  wish,
  /** The settings that it is built with. */
  min_score: z.number(),
  mask_pii: z.boolean(),
  dedupe: z.boolean(),
  counts,
  files: z.array(file),
  /** Of its files, sealed; absent where they are stored as they are. */
  key: z.string().optional(),
})
export type SetRow = z.infer<typeof setRow>
