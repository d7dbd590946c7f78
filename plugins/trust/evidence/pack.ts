import { z } from 'zod'
import { sectionNames } from './sections.ts'

const dayMs = 86_400_000
const longestDays = 400

const time = z.iso.datetime({ offset: true })
const shownTime = z.string().meta({ format: 'date-time' })
const word = z.string().min(1).max(200)

const filters = z.strictObject({
  user_id: word.optional(),
  project: word.optional(),
  model: word.optional(),
  provider: word.optional(),
})

/** A text that JSON has a canonical form of, as the manifest needs it. */
const whole = <Text extends z.ZodType<string>>(text: Text) =>
  text.refine((given) => given.isWellFormed(), 'has half a character')

/** What a pack is asked for with. */
export const packInput = z
  .strictObject({
    name: whole(word),
    description: whole(z.string().max(2000)).default(''),
    date_from: time,
    date_to: time.meta({ description: 'Exclusive.' }),
    framework: z.enum(['soc2', 'iso42001', 'eu_ai_act', 'hipaa', 'custom']).default('custom'),
    filters: filters.default({}).meta({ description: 'Of calls; the ledger is always whole.' }),
    include: z
      .array(z.enum(sectionNames))
      .min(1)
      .default([...sectionNames])
      .transform((names) => sectionNames.filter((name) => names.includes(name))),
  })
  .refine(({ date_from, date_to }) => Date.parse(date_from) < Date.parse(date_to), {
    path: ['date_to'],
    error: 'must be after date_from',
  })
  .refine(({ date_from, date_to }) => Date.parse(date_to) - Date.parse(date_from) <= longestDays * dayMs, {
    path: ['date_to'],
    error: `must be at most ${longestDays} days after date_from`,
  })

const section = z.object({
  name: z.enum(sectionNames),
  count: z.int(),
  sha256: z.string().meta({ description: 'Of its lines, each with its end, in hexadecimal.' }),
})
export type Section = z.infer<typeof section>

const range = z.object({ from_seq: z.int(), to_seq: z.int(), head_hash: z.string() })
export type LedgerRange = z.infer<typeof range>

/** What is known of a pack once its contents are collected. */
const collected = z.object({
  event_count: z.int(),
  sections: z.array(section),
  ledger_range: range.nullable().meta({ description: 'The entries within; null without any.' }),
  manifest_sha256: z.string().meta({ description: 'Of the canonical JSON (RFC 8785) of the manifest.' }),
  signature: z.object({ key_id: z.string(), signature: z.string() }),
  size_bytes: z.int(),
})
export type Collected = z.infer<typeof collected>

/** A pack as it is stored. */
export const packRow = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  date_from: shownTime,
  date_to: shownTime,
  framework: z.string(),
  filters,
  include: z.array(z.enum(sectionNames)),
  status: z.enum(['collecting', 'ready', 'failed']),
  error: z.string().nullable(),
  created_by: z.string(),
  created_at: shownTime,
  expires_at: shownTime,
  collected: collected.nullable(),
})
export type PackRow = z.infer<typeof packRow>

/** A pack as clients see it. */
export const packItem = packRow.omit({ collected: true }).extend({
  event_count: z.int().nullable(),
  sections: z.array(section),
  ledger_range: range.nullable(),
  manifest_sha256: z.string().nullable(),
  signature: collected.shape.signature.nullable(),
  size_bytes: z.int().nullable(),
  download_url: z.string().nullable(),
})

export function itemOf({ collected: done, ...row }: PackRow): z.infer<typeof packItem> {
  return {
    ...row,
    event_count: done?.event_count ?? null,
    sections: done?.sections ?? [],
    ledger_range: done?.ledger_range ?? null,
    manifest_sha256: done?.manifest_sha256 ?? null,
    signature: done?.signature ?? null,
    size_bytes: done?.size_bytes ?? null,
    download_url: done ? `/api/trust/evidence/${row.id}/download` : null,
  }
}
