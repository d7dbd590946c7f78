import { z } from 'zod'
import { type Context, kernelServices } from '#kernel'
import { shownChange } from '#kit'
import { demandPastFit } from '../plan.ts'
import { rollbackTo } from '../rollback.ts'
import { partsOf } from '../sections.ts'
import { changeItem } from '../shapes.ts'

/** Going back to an earlier generation. */
export function addRollbackRoute({ route, use }: Context<unknown>): void {
  route({
    method: 'post',
    path: '/api/config/rollback',
    access: 'admin',
    summary: "Go back to a generation's runtime configuration, as a whole or not at all; code stays",
    body: z.strictObject({
      generation: z.int().min(1).meta({ description: 'The generation to go back to.' }),
      if_generation: z
        .int()
        .min(0)
        .optional()
        .meta({ description: 'Go back only if the configuration is at this generation; else 409.' }),
      force: z
        .boolean()
        .optional()
        .meta({ description: 'Go back even if it shuts out the address and key it comes from.' }),
    }),
    returns: z.object({
      generation: z.int().meta({ description: 'The new generation, which is as the one it went back to.' }),
      changes: z.array(changeItem),
    }),
    throws: [404, 409],
    async handle({ body: { generation, force, if_generation: ifGeneration }, ...by }) {
      const registry = use(kernelServices.registry)
      let back: Awaited<ReturnType<typeof rollbackTo>> | undefined
      const number = await registry.apply(
        async () => {
          back = await rollbackTo(registry.journal, generation)
          await demandPastFit(partsOf(registry), back.changes, registry.generation.number)
          return back.change
        },
        { ...by, force, ifGeneration },
      )
      const { sections } = registry.generation
      return { generation: number, changes: back!.changes.map((change) => shownChange(sections, change)) }
    },
  })
}
