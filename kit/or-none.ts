import { z } from 'zod'

/**
 * A setting for a limit that has a default: `none` switches the limit off. Null cannot say that, because null in a change of settings
 * brings the default back, and zero would let everything pass where a reader expects nothing to.
 */
export const orNone = <Limit extends z.ZodType>(limit: Limit) => z.union([limit, z.literal('none')])
