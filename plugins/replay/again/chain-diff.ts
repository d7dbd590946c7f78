import { z } from 'zod'
import type { CallChain, CallModule } from '#kernel'

const moduleThen = z
  .object({
    version: z.string().nullable(),
    mode: z.enum(['enforce', 'shadow']),
    outcome: z
      .string()
      .meta({ description: 'As in the explanation of a trace: `ran`, `skipped` and so on.' }),
    verdicts: z.array(z.string()),
  })
  .nullable()
  .meta({ description: 'Null for a module that was off or not there.' })

const generation = z.int().nullable()

export const chainDiff = z.object({
  generation: z.object({ original: generation, replay: generation }),
  modules: z.array(z.object({ module: z.string(), original: moduleThen, replay: moduleThen })).meta({
    description: 'The modules that met the two calls in different ways, in the order of the chain.',
  }),
})

/**
 * How two calls differ in the modules that they met. Where the arrangement of one of them is not known any more, only modules that left
 * something in the traces are compared.
 */
export function chainDiffOf(original: CallChain, replay: CallChain): z.infer<typeof chainDiff> {
  const isWhole = original.isWhole && replay.isWhole
  const [before, after] = [original, replay].map(({ modules }) => metIn(modules, isWhole)) as [Met, Met]
  const names = new Set([...after.keys(), ...before.keys()])
  return {
    generation: { original: original.generation ?? null, replay: replay.generation ?? null },
    modules: [...names]
      .map((module) => ({
        module,
        original: before.get(module) ?? null,
        replay: after.get(module) ?? null,
      }))
      .filter(({ original, replay }) => JSON.stringify(original) !== JSON.stringify(replay)),
  }
}

type Met = ReadonlyMap<string, NonNullable<z.infer<typeof moduleThen>>>

const metIn = (modules: readonly CallModule[], isWhole: boolean): Met =>
  new Map(
    modules
      .filter(({ outcome }) => (isWhole ? outcome !== 'off' : outcome === 'ran' || outcome === 'skipped'))
      .map(({ name, version, mode, outcome, verdicts }) => [
        name,
        { version: isWhole ? version : null, mode, outcome, verdicts: [...verdicts] },
      ]),
  )
