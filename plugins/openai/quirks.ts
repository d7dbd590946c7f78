import { z } from 'zod'
import type { Provider } from '#kernel'

/** How compatible providers depart from OpenAI, as their manifests say it. */
const quirksSchema = z.strictObject({
  /** Refuses `stream_options`, or reports usage on streams without being asked. */
  no_stream_usage: z.boolean().default(false),
  /** Field of a stream's chunk under which usage is found when it is not `usage`. */
  usage_at: z.string().optional(),
})

export interface Quirks {
  readonly noStreamUsage: boolean
  readonly usageAt: string | undefined
}

const read = new WeakMap<Provider, Quirks>()

/** A provider's quirks; parsed once for each configuration of it. */
export function quirksOf(provider: Provider): Quirks {
  let quirks = read.get(provider)
  if (!quirks) {
    const { no_stream_usage, usage_at } = quirksSchema.parse(provider.spec.quirks)
    quirks = { noStreamUsage: no_stream_usage, usageAt: usage_at }
    read.set(provider, quirks)
  }
  return quirks
}
