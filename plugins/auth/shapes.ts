import { z } from 'zod'
import { type Key, keyStatus, type Plans, type User } from '#kernel'

const time = z.string().meta({ format: 'date-time' })

export const email = z
  .email('must be an email address')
  .max(254)
  .meta({ description: 'Unique; letter case does not matter.' })

const visible = (longest: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(longest)
    .refine((text) => !/\p{Cc}/u.test(text), 'must not have control characters')
    .meta({ pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$' })

export const name = visible(200)

/** The plan of a user, by its id. */
export const planOf = ({ all }: Plans) => z.enum(all.map(({ id }) => id))

export const idParam = z
  .string()
  .max(100)
  .regex(/^[\w-]+$/, 'must be letters, digits, _ and -')

export const providerParam = z
  .string()
  .max(64)
  .regex(/^[a-z0-9][a-z0-9_-]*$/, 'must be the name of a provider, in lower case')

export const profile = z.object({
  user_id: z.string(),
  email: z.string(),
  name: z.string().optional(),
  plan: z.string(),
  created_at: time,
  updated_at: time,
})

/** The answer to a new account: it shows the key this once. */
export const newAccount = profile.omit({ updated_at: true }).extend({
  api_key: z.string().meta({ description: 'The new key, shown only once.' }),
})

export function profileOf({ id, ...user }: User): z.infer<typeof profile> {
  return { user_id: id, ...user }
}

export const keyItem = z.object({
  id: z.string(),
  name: z.string().nullable(),
  prefix: z.string().meta({ description: 'The first twelve characters.' }),
  last_four: z.string(),
  type: z.enum(['user', 'admin']),
  status: z.enum(['active', 'revoked', 'expired']),
  expires_at: time.nullable(),
  last_used_at: time.nullable().meta({ description: 'Exact to the minute.' }),
  created_at: time,
  updated_at: time,
})

/** `lastUse` in milliseconds since the epoch, 0 for never. */
export function keyItemOf(key: Key, lastUse: number): z.infer<typeof keyItem> {
  return {
    ...key,
    name: key.name ?? null,
    status: keyStatus(key),
    expires_at: key.expires_at ?? null,
    last_used_at: lastUse > 0 ? new Date(lastUse).toISOString() : null,
  }
}

export const providerKeyItem = z.object({
  provider: z.string(),
  status: z.enum(['unverified', 'configured', 'invalid']).meta({
    description: 'Result of the last check of the key; unverified before the first.',
  }),
  last_verified_at: time.nullable(),
  created_at: time,
  updated_at: time,
})

export const usageRecord = z.object({
  user_id: z.string(),
  period: z.string().meta({ description: 'Year and month in UTC.' }),
  requests: z
    .int()
    .meta({ description: 'Model calls, except those refused before they reached a provider.' }),
  tokens_in: z.int(),
  tokens_out: z.int(),
  cost_usd: z.number().meta({ description: 'Cost of the calls whose price is known.' }),
})
