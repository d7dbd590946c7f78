import { z } from 'zod'
import type { Call } from '#kernel'
import { contentFields, type Sticky, stickies, stickyPlace } from '#kit'

const name = z.string().regex(/^[a-z0-9][a-z0-9_.-]{0,99}$/, 'must be a name such as shorter-answers')

/** A variant of these would answer another question than was asked. */
const content = [...contentFields, 'tools']

const variant = z.strictObject({
  weight: z
    .number()
    .positive()
    .max(1_000_000)
    .default(1)
    .meta({ description: 'Its share, in proportion to the weights of the others.' }),
  model: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .meta({ description: 'The model to ask; the one that the client asks for without it.' }),
  parameters: z
    .record(z.string().max(100), z.json())
    .refine(
      (fields) => content.every((name) => !(name in fields)),
      `may hold anything but ${content.join(', ')}`,
    )
    .default({})
    .meta({ description: 'Parameters such as temperature, in place of those of the request.' }),
})

export const experimentSchema = z.strictObject({
  models: z
    .array(z.string().min(1).max(256))
    .min(1)
    .max(100)
    .meta({ description: 'Globs for the models whose calls take part.' }),
  sticky: z.enum(stickies).default('user').meta({
    description:
      'What always gets the same variant: a user, a session (X-Session-Id), or each call by itself.',
  }),
  variants: z
    .record(name, variant)
    .refine((variants) => Object.keys(variants).length >= 2, 'needs at least two variants')
    .meta({ description: 'The variants, by name. An empty one changes nothing.' }),
})

export const experimentsSchema = z.record(name, experimentSchema)

export type Experiment = z.infer<typeof experimentSchema>
export type Variant = z.infer<typeof variant>

/**
 * The variant of a call: always the same for what is treated alike. When weights change, only as many change their variant
 * as must, by weighted rendezvous hashing (Schindelhauer and Schomaker, 2005).
 */
export function variantOf(id: string, { sticky, variants }: Experiment, call: Call): string {
  let chosen = ''
  let highest = Number.NEGATIVE_INFINITY
  for (const [name, { weight }] of Object.entries(variants)) {
    const score = -weight / Math.log(placeIn(`${id} ${name}`, sticky, call))
    if (score > highest) [chosen, highest] = [name, score]
  }
  return chosen
}

/** Above 0 and below 1, where there is a logarithm other than 0. */
const placeIn = (draw: string, sticky: Sticky, call: Call): number =>
  stickyPlace(draw, sticky, call) * (1 - 2 ** -32) + 2 ** -34
