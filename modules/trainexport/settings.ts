import { z } from 'zod'

const names = z.union([z.literal('all'), z.array(z.string().min(1).max(256)).max(10_000)])

export const settings = z.strictObject({
  users: names.default([]).meta({
    title: 'Users',
    description: 'Users whose calls may be in training sets, by their ids, or all of them.',
  }),
  projects: names.default([]).meta({
    title: 'Projects',
    description: 'Projects whose calls may be in training sets, whoever made them, or all of them.',
  }),
  min_score: z.number().min(0).max(5).default(4).meta({
    title: 'Least score',
    description:
      'The mean rating that a call needs, in stars from 1 to 5; a thumb up counts as 5. With 0 calls without a rating are taken too.',
  }),
  mask_pii: z.boolean().default(true).meta({
    title: 'Mask personal data',
    description: 'Whether personal data is replaced by marks such as [EMAIL], as far as it is found.',
  }),
  dedupe: z.boolean().default(true).meta({
    title: 'Drop near-duplicates',
    description: 'Whether only the newest of conversations that are nearly the same is taken.',
  }),
  max_examples: z.int().min(1).max(1_000_000).default(100_000).meta({
    title: 'Most examples',
    description:
      'Examples of a set. Each takes 400 bytes of memory while a set is built without near-duplicates.',
  }),
})
export type Settings = z.infer<typeof settings>

/** Whose calls may be in training sets. */
export interface Allowed {
  readonly user_id?: string | undefined
  readonly project: string
  readonly tags: Readonly<Record<string, string>>
}

/** The tag with which a caller keeps a call out of all sets. */
export const optOut = { tag: 'training', value: 'off' } as const

/**
 * Whether a call may be in training sets: that of a user or a project that is on a list, and those of the operator, unless its
 * caller has said no. Returns the reason against it.
 */
export function refusalOf(
  { users, projects }: Pick<Settings, 'users' | 'projects'>,
  { user_id, project, tags }: Allowed,
): 'opted_out' | 'not_allowed' | undefined {
  if (tags[optOut.tag] === optOut.value) return 'opted_out'
  const isListed = (list: Settings['users'], name: string): boolean => list === 'all' || list.includes(name)
  if (user_id === undefined || isListed(users, user_id) || isListed(projects, project)) return undefined
  return 'not_allowed'
}
