import { type Applied, type Configuration, type Context, kernelServices } from '#kernel'
import { demandFit, planOf, valuesAfter } from './plan.ts'
import { jointOf } from './rollback.ts'
import { partsOf } from './sections.ts'
import { configuredOf, readValues } from './values.ts'

/** The runtime configuration as a whole, read and changed in the registry's turn. */
export function wholeConfiguration({ use }: Pick<Context<unknown>, 'use'>): Configuration {
  const registry = () => use(kernelServices.registry)

  const read: Configuration['read'] = (names) =>
    registry().whileStill(async () => {
      const parts = partsOf(registry())
      return configuredOf(parts, await readValues(parts, names), registry().generation.number)
    })

  const apply: Configuration['apply'] = async (wanted, { actor, isTrial = false, decide }) => {
    let applied: Applied | undefined
    const generation = await registry().apply(async () => {
      const parts = partsOf(registry())
      const values = await readValues(parts)
      const { number } = registry().generation
      const now = configuredOf(parts, values, number)
      const planned = await planOf(parts, values, await wanted(now))
      const decision = decide?.(planned.map(({ form }) => form))
      const kept = decision ? planned.filter(({ form }) => decision.changes.includes(form)) : planned
      const changes = kept.map(({ change }) => change)
      const after = configuredOf(parts, valuesAfter(parts, values, changes), number)
      if (changes.length > 0) await demandFit(parts, changes, { values, now, after })
      applied = { changes: kept.map(({ form }) => form), after }
      const joint = jointOf(changes)
      return { ...joint, values: [...joint.values, ...(decision?.also ?? [])], isTrial }
    }, actor)
    return { changes: applied!.changes, after: { ...applied!.after, generation } }
  }

  return { read, apply }
}
