import { badRequest, type FigureDimension, type FigureLine, type FigureSums, type Figures } from '#kernel'

/** How usage may be grouped, and by which dimensions of the figures. */
export const dimensions = ['user', 'key', 'project', 'tenant', 'model', 'provider', 'tag'] as const
export type Grouping = (typeof dimensions)[number]

export interface Question {
  /** A dimension, `total`, or the values of one tag: `tag:team`. */
  readonly groupBy: string
  /** In ms since the epoch; whole UTC days unless it is by the hour. */
  readonly from: number
  readonly to: number
  readonly every: 'total' | 'day' | 'hour'
  /** Of one user only. */
  readonly userId: string | undefined
}

/** What the settings allow. */
export interface Bounds {
  readonly dimensions: readonly Grouping[]
  readonly mostTagValues: number
}

export interface UsageLine {
  /** When its day or hour began; undefined where all days are one line. */
  readonly at: number | undefined
  readonly value: string
  readonly sums: FigureSums
}

const dayMs = 86_400_000

const dayOf = (ms: number): number => Math.floor(ms / dayMs)

/** Stands for all values beyond. */
const others = '(other)'

/** The usage of a time by value, the oldest and then the dearest first. */
export async function usageOf(figures: Figures, asked: Question, bounds: Bounds): Promise<UsageLine[]> {
  const { dimension, tag } = dimensionOf(asked.groupBy, bounds)
  const lines = await linesOf(figures, dimension, asked)
  const wanted = tag === undefined ? lines : lines.flatMap((line) => ofTag(line, tag))
  const known =
    dimension === 'tag' ? dearestValues(wanted, bounds.mostTagValues, tag === undefined) : undefined
  const sums = new Map<string, UsageLine>()
  for (const line of wanted) {
    const value = known && !known.has(line.value) ? others : line.value
    const at = asked.every === 'total' ? undefined : line.at
    const key = `${at} ${value}`
    const before = sums.get(key)?.sums
    sums.set(key, { at, value, sums: before ? sumOf(before, line.sums) : line.sums })
  }
  return [...sums.values()].sort(
    (a, b) =>
      (a.at ?? 0) - (b.at ?? 0) || b.sums.costNano - a.sums.costNano || b.sums.requests - a.sums.requests,
  )
}

/** What all calls of a time come to. */
export async function totalOf(figures: Figures, asked: Question): Promise<FigureSums> {
  const lines = await linesOf(figures, 'total', asked)
  return lines.reduce((sum, line) => sumOf(sum, line.sums), nothing)
}

async function linesOf(
  figures: Figures,
  dimension: FigureDimension,
  { from, to, every, userId }: Question,
): Promise<readonly FigureLine[]> {
  if (every === 'hour') return figures.hours(dimension, from, to)
  const days = [dayOf(from), dayOf(to - 1)] as const
  if (userId === undefined || dimension !== 'user') return figures.days(dimension, ...days, userId)
  // Of one user, sums by user are not kept: they are all of the user's.
  const all = await figures.days('total', ...days, userId)
  return all.map((line) => ({ ...line, value: userId }))
}

function dimensionOf(
  groupBy: string,
  { dimensions }: Bounds,
): { readonly dimension: FigureDimension; readonly tag: string | undefined } {
  if (groupBy === 'total') return { dimension: 'total', tag: undefined }
  const name = groupBy.startsWith('tag:') ? 'tag' : groupBy
  const dimension = dimensions.find((one) => one === name)
  if (dimension) return { dimension, tag: groupBy === name ? undefined : groupBy.slice('tag:'.length) }
  const listed = ['total', ...dimensions, ...(dimensions.includes('tag') ? ['tag:<name>'] : [])].join(', ')
  throw badRequest(`query group_by: usage is not grouped by ${groupBy}; choose one of ${listed}.`, {
    param: 'group_by',
  })
}

/** Of the lines of all tags those of one, by its values alone. */
const ofTag = (line: FigureLine, tag: string): FigureLine[] =>
  line.value.startsWith(`${tag}=`) ? [{ ...line, value: line.value.slice(tag.length + 1) }] : []

/** The values that have lines of their own: for each tag the ones with the highest costs. */
function dearestValues(lines: readonly FigureLine[], most: number, areNamed: boolean): ReadonlySet<string> {
  const costs = new Map<string, number>()
  for (const { value, sums } of lines) costs.set(value, (costs.get(value) ?? 0) + sums.costNano)
  const byTag = Map.groupBy(costs, ([value]) => (areNamed ? value.split('=', 1)[0] : ''))
  return new Set(
    [...byTag.values()].flatMap((values) =>
      values
        .toSorted(([, a], [, b]) => b - a)
        .slice(0, most)
        .map(([value]) => value),
    ),
  )
}

const nothing: FigureSums = {
  requests: 0,
  errors: 0,
  tokensIn: 0,
  tokensOut: 0,
  tokensCached: 0,
  tokensReasoning: 0,
  costNano: 0,
  ownKeyNano: 0,
  unpriced: 0,
}

function sumOf(a: FigureSums, b: FigureSums): FigureSums {
  const names = Object.keys(nothing) as (keyof FigureSums)[]
  const sums = names.map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)])
  return Object.fromEntries(sums) as unknown as FigureSums
}
