import { z } from 'zod'
import { webAddress } from '#kit'

export const environmentName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, { error: 'expected lower-case letters, digits and -' })

export const kinds = ['local', 'remote'] as const
export const directions = ['push', 'pull'] as const
export const statuses = ['applied', 'dry_run', 'conflict', 'failed'] as const

export const environmentFields = {
  description: z.string().max(2000),
  url: webAddress.meta({ description: 'Of the other gateway; only for remote ones.' }),
  auth_ref: z
    .string()
    .regex(/^GATEWAY_[A-Z0-9_]{1,56}$/, { error: 'expected the name of a secret that begins with GATEWAY_' })
    .meta({
      description:
        'A secret of service.yaml: an admin key of the other gateway. Its name begins with GATEWAY_, so that no other secret can be sent anywhere.',
    }),
  config: z.record(z.string().max(100), z.record(z.string().max(400), z.unknown())).meta({
    description:
      'By section and key what the environment has of its own: all of a local one, and what a push to a remote one sets on top.',
  }),
}

const time = z.string().meta({ format: 'date-time' })

export const environmentRow = z.object({
  id: z.string(),
  name: environmentName,
  kind: z.enum(kinds),
  description: environmentFields.description,
  url: z.string().nullable(),
  auth_ref: z.string().nullable(),
  config: environmentFields.config,
  /** The generation of the other gateway, or of this one, after the last sync. */
  current_generation: z.int().nullable(),
  /** Hashes that the other gateway may have without somebody else having changed it. */
  known_hashes: z.array(z.string()),
  last_synced_at: time.nullable(),
  created_at: time,
  updated_at: time,
})
export type EnvironmentRow = z.output<typeof environmentRow>

/** A sync as it is kept. Of changes only the keys are kept: the history of the gateway that was changed has the rest. */
export const syncRow = z.object({
  sync_id: z.string(),
  environment: z.string(),
  direction: z.enum(directions),
  status: z.enum(statuses),
  paths: z.array(z.string()),
  from_hash: z.string().nullable(),
  to_hash: z.string().nullable(),
  problem: z.string().nullable(),
  actor: z.string(),
  synced_at: time,
  rollback_id: z.int().nullable().meta({
    description: 'The generation to roll the changed gateway back to; null when nothing was changed.',
  }),
})
export type SyncRow = z.output<typeof syncRow>
