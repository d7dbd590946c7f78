import { z } from 'zod'
import { hoursSchema } from './hours.ts'

const names = z.array(z.string().min(1).max(256)).min(1)

/** What a key is limited to. What is absent is not limited. */
export const scopeFields = {
  models: names.meta({
    title: 'Models',
    description: 'Globs. Both the model asked for and the one that is reached in the end must match.',
  }),
  endpoints: names.meta({
    title: 'Endpoints',
    description: 'Wires that may be called, such as chat, completions, embeddings, messages or responses.',
  }),
  providers: names.meta({ title: 'Providers', description: 'Providers that may be reached, by name.' }),
  expires_at: z.iso.datetime({ offset: true }).meta({
    title: 'Expires at',
    description: 'From then on the key is refused, in ISO 8601.',
  }),
  active_hours: z
    .array(hoursSchema)
    .min(1)
    .meta({ title: 'Active hours', description: 'When the key works, in UTC.' }),
  max_tokens: z.int().min(1).meta({
    title: 'Most tokens',
    description: 'Most tokens a call may ask for; a call that asks for no number gets this one.',
  }),
  read_only: z.boolean().meta({
    title: 'Read only',
    description: 'The key makes no model calls and changes nothing; it can look at what is its own.',
  }),
}

export const scopeSchema = z.strictObject(scopeFields).partial()
export type Scope = z.infer<typeof scopeSchema>
