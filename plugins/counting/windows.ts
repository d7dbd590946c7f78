import type { WindowOptions, Windows } from '#kernel'
import { bucketOf, middleOf } from '#kit'

const parts = 60
const usualGroups = 1_000

/** The values added to a group in each part of the last window. */
interface Group {
  /** The newest part, counted from the clock's zero. */
  newest: number
  readonly counts: number[]
  readonly sums: number[]
  /** How many values lie in each bucket, in each part and in all together. */
  readonly buckets: readonly Map<number, number>[]
  readonly all: Map<number, number>
}

interface Named {
  readonly slotMs: number
  /** Those that were added to in the last parts at the end. */
  readonly groups: Map<string, Group>
}

/** Windows by name: plain data, as they outlive the instance that made them. */
export type WindowState = Map<string, Named>

export const emptyWindows = (): WindowState => new Map()

/** The windows of this name; begun anew when they are of another length now. `clock` says milliseconds, and never goes back. */
export function windowsIn(
  state: WindowState,
  name: string,
  { windowMs, mostGroups = usualGroups, quantiles = false }: WindowOptions,
  clock: () => number,
): Windows {
  const slotMs = windowMs / parts
  const known = state.get(name)
  const { groups } = known?.slotMs === slotMs ? known : { groups: new Map<string, Group>() }
  state.set(name, { slotMs, groups })

  function current(name: string): Group | undefined {
    const group = groups.get(name)
    if (group) advance(group, Math.floor(clock() / slotMs))
    return group
  }

  return {
    add(name, value) {
      const slot = Math.floor(clock() / slotMs)
      let group = groups.get(name)
      if (group?.newest !== slot) {
        groups.delete(name)
        if (groups.size >= mostGroups) groups.delete(groups.keys().next().value!)
        group ??= emptyGroup(slot, quantiles)
        advance(group, slot)
        groups.set(name, group)
      }
      const at = slot % parts
      group.counts[at]! += 1
      group.sums[at]! += value
      if (!quantiles) return
      const bucket = bucketOf(value)
      for (const map of [group.buckets[at]!, group.all]) map.set(bucket, (map.get(bucket) ?? 0) + 1)
    },
    read(name) {
      const { counts = [], sums = [] } = current(name) ?? {}
      return { count: total(counts), sum: total(sums) }
    },
    quantile(name, share) {
      const group = current(name)
      if (!group) return undefined
      const wanted = Math.max(1, Math.ceil(share * total(group.counts)))
      let seen = 0
      for (const [bucket, count] of [...group.all].sort(([a], [b]) => a - b)) {
        seen += count
        if (seen >= wanted) return middleOf(bucket)
      }
      return undefined
    },
    groups: () => [...groups.keys()].filter((name) => total(current(name)!.counts) > 0),
  }
}

const zeros = (): number[] => Array.from({ length: parts }, () => 0)
const total = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0)

const emptyGroup = (newest: number, quantiles: boolean): Group => ({
  newest,
  counts: zeros(),
  sums: zeros(),
  buckets: Array.from({ length: quantiles ? parts : 0 }, () => new Map()),
  all: new Map(),
})

/** Empties the parts that have passed since. */
function advance(group: Group, slot: number): void {
  const { counts, sums, buckets, all } = group
  const passed = Math.min(slot - group.newest, parts)
  for (let n = 1; n <= passed; n += 1) {
    const old = (group.newest + n) % parts
    counts[old] = 0
    sums[old] = 0
    for (const [bucket, count] of buckets[old] ?? []) {
      const left = all.get(bucket)! - count
      if (left > 0) all.set(bucket, left)
      else all.delete(bucket)
    }
    buckets[old]?.clear()
  }
  group.newest = Math.max(group.newest, slot)
}
