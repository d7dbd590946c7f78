import { z } from 'zod'
import type { Provider } from '#kernel'
import { optionsReader } from '#provider'

/** The options of service.yaml for a project; all others are for the protocol. */
export const optionsSchema = z.object({
  project: z.string().min(1).optional(),
  location: z
    .string()
    .regex(/^[a-z0-9-]+$/, 'expected a location, such as europe-west1 or global')
    .default('global'),
  /** Where tokens come from; never an address in a key, because any user may have written it. */
  token_url: z.url().default('https://oauth2.googleapis.com/token'),
  /** Where the machine's own tokens come from. */
  metadata_url: z.url().default('http://metadata.google.internal'),
})

export type Options = z.infer<typeof optionsSchema>

export interface Read {
  readonly own: Options
  readonly others: Readonly<Record<string, unknown>>
}

const ownOf = optionsReader(optionsSchema)

/** A provider's options, those of the project apart. */
export function optionsOf(provider: Provider): Read {
  const others = Object.entries(provider.options).filter(([name]) => !(name in optionsSchema.shape))
  return { own: ownOf(provider), others: Object.fromEntries(others) }
}
