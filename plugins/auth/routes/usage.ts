import { z } from 'zod'
import type { Context } from '#kernel'
import type { Holder } from '../holder.ts'
import { periodOf, type UsageMeter } from '../meter.ts'
import { usageRecord } from '../shapes.ts'

const period = z
  .string()
  .regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'must be a year and a month, such as 2026-11')
  .optional()
  .meta({ description: 'Year and month in UTC; the current month by default.' })

/** The usage of one kind of holder in a month. */
export function addUsageRoute({ route }: Context<unknown>, holder: Holder, meter: UsageMeter): void {
  route({
    method: 'get',
    path: `${holder.path}/usage`,
    access: holder.access,
    summary: `Sum up ${holder.whose} usage of a month`,
    params: holder.params.bare,
    query: z.strictObject({ period }),
    returns: usageRecord,
    handle: async (input) => meter.read(await holder.id(input), input.query.period ?? periodOf(new Date())),
  })
}
