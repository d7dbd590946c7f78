import { z } from 'zod'
import { quirksReader } from '#provider'

/** How services that speak the protocol depart from the Gemini API, as their manifests say it. */
const quirksSchema = z.strictObject({
  /** Where its models are. */
  models_path: z.string().default('models'),
  /** Knows ids of tool calls; without them, the name and the order identify calls. */
  call_ids: z.boolean().default(true),
  /** Files of any address, and of Google's cloud storage, are read by every model. */
  cloud_files: z.boolean().default(false),
  /** Gives embeddings as predictions, one instance for each text. */
  predicts: z.boolean().default(false),
  /** Counts what stands in the request itself, and not a request inside it. */
  counts_bare: z.boolean().default(false),
  /** What a check asks, where there is no list of models. */
  check: z.strictObject({ path: z.string(), body: z.unknown() }).optional(),
})

export type Quirks = z.infer<typeof quirksSchema>

export const quirksOf = quirksReader(quirksSchema)
