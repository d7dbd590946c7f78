import type { Applied, Configuration, Configured, Context, FormChange } from '#kernel'
import { kernelServices } from '#kernel'
import { type Plan, planOf } from './plan.ts'
import { jointOf } from './rollback.ts'
import { type Parts, partOf, partsOf } from './sections.ts'
import { configuredOf, readValues } from './values.ts'

/** The runtime configuration as a whole, read and changed in the registry's turn. */
export function wholeConfiguration({ use }: Pick<Context<unknown>, 'use'>): Configuration {
  const registry = () => use(kernelServices.registry)

  const read: Configuration['read'] = (names) =>
    registry().whileStill(async () => {
      const parts = partsOf(registry())
      return configuredOf(parts, await readValues(parts, names), registry().generation.number)
    })

  const apply: Configuration['apply'] = async (wanted, { actor, isTrial = false }) => {
    const parts = partsOf(registry())
    let plan: Plan | undefined
    const generation = await registry().apply(async () => {
      const values = await readValues(parts)
      const now = configuredOf(parts, values, registry().generation.number)
      plan = await planOf(parts, values, await wanted(now))
      return { ...jointOf(plan.changes), isTrial }
    }, actor)
    return appliedOf(parts, plan!, generation)
  }

  return { read, apply }
}

function appliedOf(parts: Parts, { changes, after }: Plan, generation: number): Applied {
  const changed = changes.map(({ section, key, before, after: next }): FormChange => {
    const formOf = (value: unknown): unknown => (value === null ? null : partOf(parts, section).shared(value))
    return { section, key, before: formOf(before), after: formOf(next) }
  })
  return { changes: changed, after: configuredOf(parts, after, generation) satisfies Configured }
}
