import { z } from 'zod'
import { capabilities } from '#kernel'

/** True and false are known; a capability that is not named is unknown. */
export const capabilitySet = z.partialRecord(z.enum(capabilities), z.boolean())

const tokens = z.int().min(1).max(1_000_000_000)
const price = z.number().min(0).max(1_000_000)
const rate = z.union([
  price,
  z.strictObject({
    base: price,
    tiers: z
      .array(z.strictObject({ start: tokens, price }))
      .min(1)
      .refine((tiers) => tiers.every(({ start }, i) => start > (tiers[i - 1]?.start ?? 0)), {
        error: 'each tier must start at more tokens than the one before it',
      }),
  }),
])

/** USD per million tokens by class; `call_usd` for the call itself. */
export const rateSet = z.strictObject({
  input: rate.optional(),
  output: rate.optional(),
  cached_read: rate.optional(),
  cache_write_5m: rate.optional(),
  cache_write_1h: rate.optional(),
  reasoning: rate.optional(),
  audio_in: rate.optional(),
  audio_out: rate.optional(),
  image_in: rate.optional(),
  call_usd: price.optional(),
})

/** A model of the catalogue. An absent field is unknown. */
export const modelEntry = z.strictObject({
  operation: z.enum(['chat', 'completion', 'embedding']),
  /** Most tokens of a prompt. */
  context_window: tokens.optional(),
  /** Most tokens of an answer. */
  max_output_tokens: tokens.optional(),
  capabilities: capabilitySet.default({}),
  usd_per_m: rateSet.optional(),
  /** The day from which the provider no longer serves it. */
  retires_on: z.iso.date().optional(),
})

export type ModelEntry = z.output<typeof modelEntry>

/** A catalogue as it is kept in a file. */
export const catalogueFile = z.strictObject({
  format: z.literal('switchyard-catalogue/1'),
  /** The publisher of the data and where it is published. */
  source: z.string().min(1).max(500),
  /** The day the data is of. */
  date: z.iso.date(),
  /** By `provider/model`; the provider by the name under which the price data knows it. */
  models: z.record(z.string().regex(/^[^\s/]+\/\S+$/), modelEntry),
})

export type CatalogueFile = z.output<typeof catalogueFile>
