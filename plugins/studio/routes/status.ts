import { z } from 'zod'
import type { Context } from '#kernel'
import { visibilities } from '#kit'
import type { Thing, Things } from '../owned.ts'
import { statuses } from '../rows.ts'
import type { Studio } from '../studio.ts'

const counts = <K extends string>(names: readonly K[]) =>
  z.object(Object.fromEntries(names.map((name) => [name, z.int()])) as Record<K, z.ZodInt>)

const kinds = ['experiments', 'benchmarks', 'snapshots'] as const

const total = z.object({ total: z.int() })
const totals = z.object({ experiments: total, benchmarks: total, snapshots: total })

type Counted = Pick<Things<Thing>, 'count'>

/** The state of the area, of what the caller may see. */
export function addStatusRoute(
  { route }: Pick<Context<unknown>, 'route'>,
  studio: Studio,
  things: Readonly<Record<(typeof kinds)[number], Counted>>,
): void {
  route({
    method: 'get',
    path: '/api/studio/status',
    access: 'any',
    summary: 'How many templates and versions the caller may see, and what else is its own',
    returns: z.object({
      status: z.literal('healthy'),
      templates: z.object({
        total: z.int(),
        versions: z.int(),
        ...counts(visibilities).shape,
        ...counts(statuses).shape,
      }),
      ...totals.shape,
    }),
    throws: [403],
    async handle({ principal }) {
      const rows = studio.shelf.known.seenBy(principal!)
      const count = <K extends string>(names: readonly K[], nameOf: (row: (typeof rows)[number]) => K) =>
        Object.fromEntries(
          names.map((name) => [name, rows.filter((row) => nameOf(row) === name).length]),
        ) as Record<K, number>
      const others = await Promise.all(
        kinds.map(async (kind) => [kind, { total: await things[kind].count(principal) }] as const),
      )
      return {
        status: 'healthy' as const,
        templates: {
          total: rows.length,
          versions: rows.reduce((sum, { current_version }) => sum + current_version, 0),
          ...count(visibilities, ({ visibility }) => visibility),
          ...count(statuses, ({ status }) => status),
        },
        ...(Object.fromEntries(others) as z.infer<typeof totals>),
      }
    },
  })
}
