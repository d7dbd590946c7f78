import { z } from 'zod'
import { type Context, hooksOf, kernelServices } from '#kernel'

const link = z.object({
  order: z.int().meta({ description: 'From 1, outermost first: requests run down, answers back up.' }),
  name: z.string(),
  phase: z.string().meta({ description: 'Its stage.' }),
  hooks: z.array(z.string()).meta({ description: 'Its hooks.' }),
  mode: z.enum(['enforce', 'shadow']),
  reason: z.string().meta({ description: 'Reason for its position.' }),
})

/** The chain as the next call will run it. */
export function addChainRoute({ route, use }: Context<unknown>): void {
  route({
    method: 'get',
    path: '/api/proxy/chain',
    access: 'any',
    summary: 'The modules that act on calls, in order',
    returns: z.object({ generation: z.int(), chain: z.array(link), total: z.int() }),
    handle() {
      const { generation, places } = use(kernelServices.registry)
      const placed = new Map(places.map((place) => [place.plugin.id, place]))
      const chain = generation.entries
        .map(({ id, stage, hooks }) => ({ name: id, phase: stage, hooks: hooksOf(hooks) }))
        .filter(({ hooks }) => hooks.length > 0)
        .map((entry, i) => {
          const place = placed.get(entry.name)
          const mode = place?.plugin.setting?.mode ?? ('enforce' as const)
          return { order: i + 1, ...entry, mode, reason: place?.reason ?? '' }
        })
      return { generation: generation.number, chain, total: chain.length }
    },
  })
}
