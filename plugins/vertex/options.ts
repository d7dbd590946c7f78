import { z } from 'zod'
import { internalError, type Provider } from '#kernel'

/** What service.yaml may say of a project; what else stands there is for the protocol. */
export const optionsSchema = z.object({
  project: z.string().min(1).optional(),
  location: z
    .string()
    .regex(/^[a-z0-9-]+$/, 'expected a location, such as europe-west1 or global')
    .default('global'),
  /** Where tokens come from; never what a key says itself, which anybody may have written. */
  token_url: z.url().default('https://oauth2.googleapis.com/token'),
  /** Where the machine's own tokens come from. */
  metadata_url: z.url().default('http://metadata.google.internal'),
})

export type Options = z.infer<typeof optionsSchema>

export interface Read {
  readonly own: Options
  readonly others: Readonly<Record<string, unknown>>
}

const read = new WeakMap<Provider, Read>()

/** A provider's options, those of the project apart; parsed once for each configuration of it. */
export function optionsOf(provider: Provider): Read {
  let options = read.get(provider)
  if (!options) {
    const { data, error } = optionsSchema.safeParse(provider.options)
    if (!data) {
      const problem = z.prettifyError(error).replaceAll(/\s*\n\s*/g, ' ')
      throw internalError(`providers.${provider.name}.options: ${problem}`)
    }
    const others = Object.entries(provider.options).filter(([name]) => !(name in optionsSchema.shape))
    options = { own: data, others: Object.fromEntries(others) }
    read.set(provider, options)
  }
  return options
}
