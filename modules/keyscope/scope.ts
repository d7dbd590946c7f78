import { z } from 'zod'
import { hoursSchema } from '#kit'

const names = z.array(z.string().min(1).max(256)).min(1)

/** The limits of a key. An absent field is no limit. */
export const scopeFields = {
  models: names.meta({
    title: 'Models',
    description: 'Globs. Both the requested model and the model that is finally used must match.',
  }),
  endpoints: names.meta({
    title: 'Endpoints',
    description: 'Wires that the key may call, such as chat, completions, embeddings, messages or responses.',
  }),
  providers: names.meta({ title: 'Providers', description: 'Names of providers that the key may use.' }),
  expires_at: z.iso.datetime({ offset: true }).meta({
    title: 'Expires at',
    description: 'Time from which the key is refused, in ISO 8601.',
  }),
  active_hours: z
    .array(hoursSchema)
    .min(1)
    .meta({ title: 'Active hours', description: 'Periods in which the key works, in UTC.' }),
  max_tokens: z.int().min(1).meta({
    title: 'Maximum tokens',
    description: 'Largest max_tokens of a call. A call without max_tokens gets this value.',
  }),
  read_only: z.boolean().meta({
    title: 'Read only',
    description: "The key cannot make model calls or changes; it can read its own user's data.",
  }),
}

export const scopeSchema = z.strictObject(scopeFields).partial()
export type Scope = z.infer<typeof scopeSchema>
