import { carriers } from './carriers.ts'
import { encodings } from './encodings.ts'
import { frames } from './frames.ts'
import type { Strategy } from './strategy.ts'

export const strategies: readonly Strategy[] = [...encodings, ...frames, ...carriers]

export const strategyOf = (id: string): Strategy | undefined => strategies.find((one) => one.id === id)

/** The trait by which an attack is grouped with others: what it is put in last, before how it reaches the model. */
export function traitOf(ids: readonly string[]): string {
  const known = ids.flatMap((id) => strategyOf(id) ?? [])
  return (known.findLast(({ apply }) => apply) ?? known.at(-1))?.id ?? plain
}

/** The trait of attacks in plain words. */
export const plain = 'plain'
