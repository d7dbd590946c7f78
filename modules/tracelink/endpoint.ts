import { z } from 'zod'
import type { Environment } from '#kernel'

const path = '/v1/traces'

/** The address of a collector, without credentials, since settings can be read. */
export const endpointSchema = z
  .url({ protocol: /^https?$/ })
  .max(2000)
  .refine((url) => !/^https?:\/\/[^/?#]*@/i.test(url), {
    error: 'must be without credentials; set OTEL_EXPORTER_OTLP_HEADERS in the environment instead',
  })

/**
 * Where traces are posted: below the address of the settings, else of the environment; undefined where neither names one.
 * Throws if the environment's is no address.
 */
export function tracesUrl(setting: string | undefined, environment: Environment): string | undefined {
  const said = setting ?? (environment.OTEL_EXPORTER_OTLP_ENDPOINT || undefined)
  if (said === undefined) return undefined
  if (setting === undefined && !endpointSchema.safeParse(said).success)
    throw new Error(
      'OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https address without credentials, such as http://127.0.0.1:4318',
    )
  const url = new URL(said)
  if (!url.pathname.endsWith(path)) url.pathname = url.pathname.replace(/\/$/, '') + path
  return url.href
}
