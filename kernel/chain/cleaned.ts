import type { Entry } from './entry.ts'
import { type Stage, stages } from './hooks.ts'

/** Stages with guards of answers. */
const guarding: ReadonlySet<Stage> = new Set(['inspect', 'verify'])

/**
 * The modules, with each detection that cleans answers behind the last one of a stage with guards: on its way up an answer is
 * clean before a guard looks at it. That of a cache is clean before `inspect`.
 */
export function cleanedFirst(entries: readonly Entry[]): readonly Entry[] {
  const cleaners: Entry[] = []
  const others = entries.map((entry): Entry => {
    const { reply, ...detect } = entry.hooks.detect ?? {}
    if (!reply?.cleans) return entry
    cleaners.push({ ...entry, hooks: { detect: { reply } } })
    return { ...entry, hooks: { ...entry.hooks, detect } }
  })
  return stages.flatMap((stage) => {
    const own = others.filter((entry) => entry.stage === stage)
    return guarding.has(stage) ? [...own, ...cleaners] : own
  })
}
