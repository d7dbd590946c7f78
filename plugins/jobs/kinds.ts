import type { JobDefinition } from '#kernel'
import { type JobsState, type Kind, withDefaults } from './state.ts'

const namePattern = /^[a-z][a-z0-9-]{0,63}$/

/** The name of a kind, which is its plugin's own. Throws when it is none. */
export function kindOf(plugin: string, name: string): string {
  if (!namePattern.test(name))
    throw new TypeError('The name of a kind has lower case letters, digits and dashes')
  return `${plugin}.${name}`
}

/** Takes a definition, which runs the jobs of its kind from when it is live until `releaseKind`. Throws what is wrong with it. */
export function addKind(
  state: JobsState,
  name: string,
  {
    owner,
    definition,
    upkeep,
  }: Pick<Kind, 'owner' | 'upkeep'> & { readonly definition: JobDefinition<unknown, unknown> },
): Kind {
  const others = state.kinds.get(name) ?? []
  if (others.some((other) => other.owner === owner)) throw new Error(`The kind ${name} is defined twice`)
  const kind = { owner, definition: withDefaults(definition), upkeep, runs: new Set<never>(), isLive: false }
  state.kinds.set(name, [...others, kind])
  return kind
}

/** Has a definition run nothing any more, and what it runs stop, in this very moment. */
export function withdrawKind(state: JobsState, name: string, kind: Kind): void {
  const left = (state.kinds.get(name) ?? []).filter((other) => other !== kind)
  if (left.length > 0) state.kinds.set(name, left)
  else state.kinds.delete(name)
  for (const run of kind.runs) run.stop('released')
}

/** Takes a definition back. Resolves when what it ran has ended, or waits for another one. */
export async function releaseKind(state: JobsState, name: string, kind: Kind): Promise<void> {
  withdrawKind(state, name, kind)
  await Promise.allSettled(Array.from(kind.runs, (run) => run.run()))
  state.wake()
}
