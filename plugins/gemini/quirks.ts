import { z } from 'zod'
import type { Provider } from '#kernel'

/** How services that speak the protocol depart from the Gemini API, as their manifests say it. */
const quirksSchema = z.strictObject({
  /** Where its models are. */
  models_path: z.string().default('models'),
  /** Knows ids of tool calls; without them calls are told apart by name and order. */
  call_ids: z.boolean().default(true),
  /** Files of any address, and of Google's cloud storage, are read by every model. */
  cloud_files: z.boolean().default(false),
  /** Gives embeddings as predictions, one instance for each text. */
  predicts: z.boolean().default(false),
  /** What a check asks, where there is no list of models. */
  check: z.strictObject({ path: z.string(), body: z.unknown() }).optional(),
})

export type Quirks = z.infer<typeof quirksSchema>

const read = new WeakMap<Provider['spec'], Quirks>()

/** A provider's quirks; parsed once for each manifest. */
export function quirksOf({ spec }: Provider): Quirks {
  let quirks = read.get(spec)
  if (!quirks) {
    quirks = quirksSchema.parse(spec.quirks)
    read.set(spec, quirks)
  }
  return quirks
}
