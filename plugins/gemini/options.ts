import { z } from 'zod'
import { optionsReader } from '#provider'

/** The options of service.yaml for Gemini beyond address and keys. */
export const optionsSchema = z.strictObject({
  /** The content to block, for calls that do not say so themselves. */
  safety_settings: z.array(z.strictObject({ category: z.string(), threshold: z.string() })).optional(),
  /** Whether ids of tool calls carry the calls' signatures, for clients that drop what else carries them. */
  signatures_in_ids: z.boolean().default(true),
})

export type Options = z.infer<typeof optionsSchema>

export const optionsOf = optionsReader(optionsSchema)
