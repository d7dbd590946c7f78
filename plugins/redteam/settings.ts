import { z } from 'zod'

export const settings = z.strictObject({
  addresses_by: z.enum(['admins', 'everybody']).default('admins').meta({
    title: 'Who attacks addresses',
    description:
      'Who may name an address to be attacked in place of the gateway: from the address of the gateway, also what `egress.allow` names.',
  }),
  model: z.string().min(1).max(256).default('gpt-4o-mini').meta({
    title: 'Model',
    description: 'The model that is attacked where a request names none.',
  }),
  timeout_s: z.int().min(1).max(600).default(30).meta({
    title: 'Time of an attack',
    description: 'Seconds that the answer to one attack may take.',
  }),
  max_tokens: z.int().min(50).max(8000).default(800).meta({
    title: 'Length of answers',
    description: 'Tokens that the answer to one attack may have.',
  }),
  requests_per_day: z.int().min(1).max(1_000_000).default(2000).meta({
    title: 'Attacks a day',
    description:
      'Attacks that one user may make a day (UTC). They count in no other budget of the user, so this one bounds their cost.',
  }),
  concurrency: z.int().min(1).max(50).default(4).meta({
    title: 'Attacks at a time',
    description: 'How many attacks of a hunt are made at a time.',
  }),
  hunts: z.int().min(1).max(100).default(4).meta({
    title: 'Hunts at a time',
    description: 'How many hunts go on at a time; of one user half as many.',
  }),
  keep_days: z.int().min(1).max(3650).default(180).meta({
    title: 'Days of campaigns',
    description: 'How long campaigns are kept after they were last used.',
  }),
})
export type Settings = z.infer<typeof settings>
