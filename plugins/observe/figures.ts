import {
  type CallSource,
  callSources,
  type FigureDimension,
  type FigureLine,
  type FigureSums,
  type Figures,
} from '#kernel'
import type { Cells } from './cells.ts'
import { Tally, unpricedIn } from './tally.ts'
import type { Traces } from './traces.ts'

/** Clients' own calls, and those of every other source. */
const sources = [undefined, ...callSources]
const withoutAttacks = sources.filter((source) => source !== 'redteam')

/** The sources that figures add up: attacks of the red team are nothing that a user has used. */
const sourcesOf = (userId: string | undefined, dimension?: FigureDimension) =>
  userId === undefined && dimension !== 'user' ? sources : withoutAttacks

/** The sums of traces, over all sources, for other plugins. */
export function figuresOf(traces: Pick<Traces, 'cells'>): Figures {
  async function overSources<K>(
    userId: string | undefined,
    read: (cells: Cells) => Promise<ReadonlyMap<K, Tally>>,
    of: readonly (CallSource | undefined)[],
  ): Promise<Map<K, Tally>> {
    const all = new Map<K, Tally>()
    for (const found of await Promise.all(of.map((source) => read(traces.cells(userId, source)))))
      for (const [key, tally] of found) all.set(key, (all.get(key) ?? new Tally()).merge(tally))
    return all
  }

  /** Reported traces are in the cells of those who reported them. */
  async function withoutTold<K>(
    all: Map<K, Tally>,
    userId: string | undefined,
    read: () => Promise<ReadonlyMap<K, Tally>>,
  ): Promise<Map<K, FigureSums>> {
    const told = userId === undefined ? [] : await read()
    for (const [key, tally] of told) if (all.get(key)?.less(tally).get('requests') === 0) all.delete(key)
    return sumsBy(all)
  }

  return {
    since: async (dimension, value, from, to = Date.now()) =>
      sumsOf(await traces.cells(undefined).quarters(dimension, value, from, to)),
    async byValue(dimension, fromDay, toDay, userId) {
      const of = sourcesOf(userId, dimension)
      const all = await overSources(userId, (cells) => cells.byValue(dimension, fromDay, toDay), of)
      return withoutTold(all, userId, () => traces.cells(userId, 'manual').byValue(dimension, fromDay, toDay))
    },
    async byDay(fromDay, toDay, userId, source) {
      const of = source === undefined ? sourcesOf(userId) : [source === 'proxy' ? undefined : source]
      const all = await overSources(userId, (cells) => cells.byDay(fromDay, toDay), of)
      const isTold = of.includes(undefined) ? userId : undefined
      return withoutTold(all, isTold, () => traces.cells(userId).byDay(fromDay, toDay, 'manual'))
    },
    async days(dimension, fromDay, toDay, userId) {
      const of = sourcesOf(userId, dimension)
      const all = await overSources(userId, (cells) => cells.byDayAndValue(dimension, fromDay, toDay), of)
      const told = (): Promise<Map<string, Tally>> =>
        dimension === 'total'
          ? traces.cells(userId).byDayAndValue('manual', fromDay, toDay)
          : traces.cells(userId, 'manual').byDayAndValue(dimension, fromDay, toDay)
      return linesOf(await withoutTold(all, userId, told))
    },
    async hours(dimension, from, to) {
      const all = await traces.cells(undefined).byHourAndValue(dimension, from, to)
      return linesOf(sumsBy(all)).map((line) => ({ ...line, value: withoutTenant(dimension, line.value) }))
    },
  }
}

const linesOf = (sums: ReadonlyMap<string, FigureSums>): FigureLine[] =>
  Array.from(sums, ([key, line]) => {
    const space = key.indexOf(' ')
    return { at: Number(key.slice(0, space)), value: key.slice(space + 1), sums: line }
  })

/** Cells by the quarter of an hour keep projects of tenants apart, which other figures do not. */
function withoutTenant(dimension: FigureDimension, value: string): string {
  const [, project] =
    (dimension === 'project' && /^\["(?:[^"\\]|\\.)*",("(?:[^"\\]|\\.)*")\]$/.exec(value)) || []
  return project === undefined ? value : JSON.parse(project)
}

const sumsBy = <K>(tallies: ReadonlyMap<K, Tally>): Map<K, FigureSums> =>
  new Map(Array.from(tallies, ([key, tally]) => [key, sumsOf(tally)]))

const sumsOf = (tally: Tally): FigureSums => ({
  requests: tally.get('requests'),
  errors: tally.get('errors'),
  tokensIn: tally.get('tokens_in'),
  tokensOut: tally.get('tokens_out'),
  tokensCached: tally.get('tokens_cached'),
  tokensReasoning: tally.get('tokens_reasoning'),
  costNano: tally.get('cost_nano'),
  ownKeyNano: tally.get('own_key_nano'),
  ...unpricedIn(tally),
})
