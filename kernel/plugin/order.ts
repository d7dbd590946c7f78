import { stages } from '../chain/hooks.ts'
import type { PlacedManifest } from '../discovery/manifest.ts'

interface Placed {
  /** Where a module has several configurations: tells them apart. */
  readonly id?: string
  readonly manifest: PlacedManifest
  /** The operator's place inside the stage; 0 by default, smaller is further out. */
  readonly order: number
}

/**
 * Puts modules in chain order: by stage, then by the operator's order, then so that `before` and `after` hold, then
 * by id. A cycle of wishes is broken at the smallest id, so that the order is always complete and always the same.
 */
export function inOrder<T extends Placed>(modules: readonly T[]): T[] {
  return stages.flatMap((stage) => sorted(modules.filter(({ manifest }) => manifest.stage === stage)))
}

/** Why a module stands where it does, for people. */
export function reasonOf({ manifest, order }: Placed): string {
  const wishes = [
    ...(order === 0 ? [] : [`order ${order}`]),
    ...manifest.after.map((id) => `after ${id}`),
    ...manifest.before.map((id) => `before ${id}`),
  ]
  return [`stage ${manifest.stage}`, ...(wishes.length > 0 ? wishes : ['by id'])].join(', ')
}

function sorted<T extends Placed>(modules: readonly T[]): T[] {
  const waiting = modules.toSorted((a, b) => a.order - b.order || (idOf(a) < idOf(b) ? -1 : 1))
  const result: T[] = []
  while (waiting.length > 0) {
    const ready = waiting.findIndex((module) => !waiting.some((other) => mustPrecede(other, module)))
    result.push(...waiting.splice(Math.max(ready, 0), 1))
  }
  return result
}

const idOf = ({ id, manifest }: Placed): string => id ?? manifest.id

/** The operator's order outweighs the modules' own wishes. */
function mustPrecede(a: Placed, b: Placed): boolean {
  if (a === b || a.order !== b.order) return a !== b && a.order < b.order
  return a.manifest.before.includes(b.manifest.id) || b.manifest.after.includes(a.manifest.id)
}
