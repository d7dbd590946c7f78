import { z } from 'zod'
import { internalError, type Provider } from '#kernel'

/** What service.yaml may say of Bedrock beyond address and keys. */
export const optionsSchema = z.strictObject({
  region: z.string().optional(),
  /** Where a container asks for the keys of its role: an address, or a path at the one that all tasks have. */
  container_url: z.url().optional(),
  container_path: z.string().startsWith('/').optional(),
  /** What it shows there. */
  container_token: z.string().optional(),
  container_token_file: z.string().optional(),
  /** Where an instance asks. */
  metadata_url: z.url().default('http://169.254.169.254'),
  /** Inference profiles and provisioned models by model: what is asked for in the place of what. */
  profiles: z.record(z.string(), z.string()).default({}),
  /** The guardrail of calls that name none themselves. */
  guardrail: z
    .strictObject({
      id: z.string(),
      version: z.union([z.string(), z.number()]).transform(String),
      trace: z.enum(['enabled', 'disabled', 'enabled_full']).optional(),
    })
    .optional(),
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
