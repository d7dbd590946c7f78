import { z } from 'zod'
import { badRequest } from '#kernel'

/** The scale of a rating: thumbs from -1 to 1, stars from 1 to 5, or from one number to another. */
export const scale = z
  .union([
    z.enum(['thumb', 'stars']),
    z
      .strictObject({ min: z.number(), max: z.number() })
      .refine(({ min, max }) => min < max, 'min is not below max')
      .refine(({ min, max }) => Number.isFinite(max - min), 'min and max are too far apart'),
  ])
  .meta({
    description:
      'What the rating means: `thumb` for -1, 0 and 1, `stars` for 1 to 5, or the least and the largest number. Without it -1, 0 and 1 are thumbs and 2 to 5 are stars, so say `stars` for one star.',
  })

export type Scale = z.infer<typeof scale>

const bounds = { thumb: { min: -1, max: 1 }, stars: { min: 1, max: 5 } }

/** The scale that a rating is on when nobody says. */
export const scaleOf = (rating: number): Scale => (rating <= 1 ? 'thumb' : 'stars')

/** A rating as a number from 0 to 1, so that all scales compare. Throws a bad request for one that is not on its scale. */
export function scoreOf(rating: number, on: Scale): number {
  const { min, max } = typeof on === 'string' ? bounds[on] : on
  if (rating < min || rating > max || (on === 'thumb' && !Number.isInteger(rating))) {
    const wanted = on === 'thumb' ? '-1, 0 or 1' : `a number from ${min} to ${max}`
    throw badRequest(`body rating: expected ${wanted}, got ${rating}.`, { param: 'rating' })
  }
  return (rating - min) / (max - min)
}
