import { textOf } from '../../../../test/ask.ts'
import type { Mode } from '../../../../test/conformance/example.ts'
import type { Sample } from './sample.ts'
import type { Tried, TriedGateway } from './tried-gateway.ts'

/** The effect of a plugin on one call: `before` is the same call without the plugin. */
export interface Trial {
  readonly request: { readonly before: unknown; readonly after: unknown }
  readonly answer: { readonly before: Shown; readonly after: Shown }
  /** Headers of the answer that are there, or have this value, only with the plugin. */
  readonly headers: Readonly<Record<string, string>>
  /** The plugin's hooks that ran. */
  readonly hooks: readonly string[]
  /** What they threw or gave that they may not, and where. */
  readonly failures: readonly string[]
  /** The findings and effects that it reports. */
  readonly findings: readonly { readonly verdict: string; readonly detail: unknown }[]
  readonly cost: Cost
}

/** An answer as it is shown: its text, or all of it where it is no text alone. */
export interface Shown {
  readonly status: number
  readonly content: unknown
}

/** Microseconds in the plugin's hooks: the median of so many calls, which warm up first. */
export interface Cost {
  readonly us: number
  readonly calls: number
}

export interface Gateways {
  readonly id: string
  readonly without: TriedGateway
  readonly with: TriedGateway
  /** Another one with the plugin, whose state no call that is shown depends on. */
  readonly measured: TriedGateway
}

/** Calls that are measured, after as many that are not. */
const measured = 15

export async function tryOut(gateways: Gateways, sample: Sample, mode: Mode): Promise<Trial> {
  const before = await gateways.without.ask(sample, mode)
  const after = await gateways.with.ask(sample, mode)
  return {
    request: { before: before.sent, after: after.sent },
    answer: { before: shownOf(before), after: shownOf(after) },
    headers: newHeaders(before.headers, after.headers),
    hooks: [...new Set(ofPlugin(gateways.id, after.trace?.timings).map(({ hook }) => hook))],
    failures: after.failures,
    findings: ofPlugin(gateways.id, after.trace?.notes).map(({ verdict, detail }) => ({ verdict, detail })),
    cost: await costOf(gateways, sample, mode, after.status),
  }
}

const ofPlugin = <T extends { readonly module: string }>(id: string, all: readonly T[] = []): T[] =>
  all.filter(({ module }) => module === id)

/** What differs from answer to answer. */
const volatile = ['id', 'created']

function shownOf({ status, body }: Tried): Shown {
  if (status >= 400) return { status, content: withoutIds(body.error) }
  const text = textOf(body)
  return { status, content: text === undefined ? withoutIds(body) : text }
}

function withoutIds(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).filter(([name]) => !volatile.includes(name) && name !== 'request_id'),
  )
}

/** Headers that are other ones in each answer. */
const passing = /^(date|x-request-id|x-trace-id|content-length|connection|keep-alive)$|-ms$/

const newHeaders = (before: Headers, after: Headers): Record<string, string> =>
  Object.fromEntries([...after].filter(([name, value]) => !passing.test(name) && before.get(name) !== value))

/** Of calls that end as the one that is shown: others may have become too many for the plugin. */
async function costOf(gateways: Gateways, sample: Sample, mode: Mode, status: number): Promise<Cost> {
  const times: number[] = []
  for (let n = 0; n < 2 * measured; n += 1) {
    const tried = await gateways.measured.ask(sample, mode)
    if (!tried.trace || tried.status !== status) continue
    const ran = ofPlugin(gateways.id, tried.trace.timings)
    times.push(ran.reduce((sum, { ms }) => sum + 1000 * ms, 0))
  }
  const warm = times.slice(-measured).sort((a, b) => a - b)
  return { us: Math.round(warm[Math.floor(warm.length / 2)] ?? 0), calls: warm.length }
}
