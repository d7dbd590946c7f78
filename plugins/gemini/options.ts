import { z } from 'zod'
import { internalError, type Provider } from '#kernel'

/** What service.yaml may say of Gemini beyond address and keys. */
export const optionsSchema = z.strictObject({
  /** What to block, for calls that do not say so themselves. */
  safety_settings: z.array(z.strictObject({ category: z.string(), threshold: z.string() })).optional(),
  /** Whether ids of tool calls carry the calls' signatures, for clients that drop what else carries them. */
  signatures_in_ids: z.boolean().default(true),
})

export type Options = z.infer<typeof optionsSchema>

const read = new WeakMap<Provider, Options>()

/** A provider's options; parsed once for each configuration of it. */
export function optionsOf(provider: Provider): Options {
  let options = read.get(provider)
  if (!options) {
    const { data, error } = optionsSchema.safeParse(provider.options)
    if (!data) {
      const problem = z.prettifyError(error).replaceAll(/\s*\n\s*/g, ' ')
      throw internalError(`providers.${provider.name}.options: ${problem}`)
    }
    options = data
    read.set(provider, options)
  }
  return options
}
