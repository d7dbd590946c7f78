import { z } from 'zod'
import { defineEvent } from '#kernel'

/** A provider answered with a 5xx, in a way that makes no sense, or not at all. */
export const ProviderFailed = defineEvent(
  'provider.error',
  z.object({
    provider: z.string(),
    model: z.string(),
    status: z.int().nullable(),
    message: z.string(),
    trace_id: z.string(),
    attempt: z.int(),
  }),
  { alias: 'provider_error', description: 'A provider returned a 5xx error, or did not answer in time.' },
)

export const HealthChanged = defineEvent(
  'provider.health_changed',
  z.object({
    provider: z.string(),
    from: z.string(),
    to: z.string(),
    error_rate: z.number().nullable(),
    window_s: z.int(),
  }),
  { description: 'The health of a provider has changed.' },
)

export const RoutesChanged = defineEvent(
  'routes.changed',
  z.object({ source: z.enum(['config', 'api']), total: z.int() }),
  { description: 'The table of routes was set or cleared.' },
)

export const ProvidersChanged = defineEvent(
  'providers.changed',
  z.object({ name: z.string(), change: z.enum(['added', 'changed', 'removed']) }),
  { description: 'A provider was added, changed or removed at runtime.' },
)
