import { createTeller, others } from '#kit'
import { dayOf, everybody, hourMs, minuteMs, quarterMs, suffixOf } from './cells.ts'
import { tagsOf } from './fields.ts'
import type { TraceRow } from './row.ts'
import { type Totals, timedTotalsOf, totalsOf } from './tally.ts'

/** The cells of traces that are alike, with and without latencies. */
interface CellNames {
  readonly timed: readonly string[]
  readonly plain: readonly string[]
}

/** The values of a trace, by their dimension. */
type Values = readonly (readonly [dimension: string, value: string])[]

/** Names that are kept: those of earlier minutes are of no use. */
const mostNames = 1000

/**
 * Adds traces to their cells. Names are kept for traces of the same minute, user, model and so on: making and hashing
 * them anew would cost more than adding.
 */
export function createRollUp(): (
  row: TraceRow,
  add: (cells: readonly string[], totals: Totals) => void,
) => void {
  const known = new Map<string, CellNames>()
  const tellApart = createTeller()
  return (row, add) => {
    const minute = Math.floor(row.at / minuteMs)
    const { user_id = '', tenant = '', provider = '', key_id, project, source } = row
    const isTold = source === 'manual'
    const apart = isTold || source === 'proxy' ? '' : suffixOf(source.split(':')[0])
    const model = row.provider === undefined && !row.cache ? '' : row.model
    const tags = tagsOf(row.tags) ?? noTags
    const key = `${minute}\n${user_id}\n${tenant}\n${key_id}\n${provider}\n${model}\n${project}\n${isTold}${apart}\n${tags.join('\n')}`
    let names = known.get(key)
    if (!names) {
      if (known.size === mostNames) known.clear()
      const holder = `${user_id}\n${dayOf(row.at)}`
      const values: Values = [
        ['provider', tellApart(holder, 'provider', provider)],
        ['model', tellApart(holder, 'model', model)],
        ['project', tellApart(holder, 'project', project)],
        ['key', key_id],
        ...Object.entries(row.tags).map(([name, value]) => {
          const isKnown = tellApart(holder, 'tag', name) === name
          return ['tag', isKnown ? `${name}=${tellApart(holder, `tag ${name}`, value)}` : others] as const
        }),
      ]
      names = namesOf(minute, row, values, isTold, apart)
      known.set(key, names)
    }
    add(names.timed, timedTotalsOf(row))
    add(names.plain, totalsOf(row))
  }
}

/** Projects of two tenants may have one name. */
const projectOf = (project: string, tenant: string | undefined): string =>
  tenant === undefined ? project : JSON.stringify([tenant, project])

const noTags: readonly string[] = []

const attacks = suffixOf('redteam')

function namesOf(minute: number, row: TraceRow, values: Values, isTold: boolean, apart: string): CellNames {
  const { user_id: user, tenant } = row
  const hour = Math.floor((minute * minuteMs) / hourMs)
  const day = dayOf(minute * minuteMs)
  const all = everybody + apart
  const own = user === undefined ? [] : [user + apart]
  const scopes = isTold ? own : [all, ...own]
  const cells = new Set(
    scopes.flatMap((scope) => values.map(([dimension, value]) => `d/${scope}/${dimension}/${day}/${value}`)),
  )
  if (isTold) {
    for (const scope of [everybody, ...own]) cells.add(`d/${scope}/manual/${day}/`)
    for (const scope of own)
      for (const [dimension, value] of values)
        cells.add(`d/${scope}${suffixOf('manual')}/${dimension}/${day}/${value}`)
  } else {
    const holders: [string, string][] = []
    if (user !== undefined) holders.push(['user', user])
    if (tenant !== undefined) holders.push(['tenant', tenant])
    for (const [dimension, value] of holders) cells.add(`d/${all}/${dimension}/${day}/${value}`)
    const quarter = Math.floor((minute * minuteMs) / quarterMs)
    // Attacks of the red team are nothing that the user has spent, and quarters are not kept by source.
    const spenders = apart === attacks ? holders.filter(([dimension]) => dimension !== 'user') : holders
    const others = values.filter(([dimension]) => dimension !== 'project')
    const project = ['project', projectOf(row.project, tenant)] as const
    for (const [dimension, value] of [['total', ''] as const, ...spenders, ...others, project])
      cells.add(`q/${day}/${dimension}/${value}/${quarter}`)
  }
  return {
    timed: scopes.flatMap((scope) => [
      `m/${hour}/${scope}/${minute}`,
      `h/${scope}/${hour}`,
      `d/${scope}/total/${day}/`,
    ]),
    plain: [...cells],
  }
}
