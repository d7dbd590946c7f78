import { isDeepStrictEqual } from 'node:util'
import type { Forms } from '#kernel'
import { isRecord } from './merge-patch.ts'

interface Differences {
  readonly changes: { readonly path: string; readonly current: unknown; readonly incoming: unknown }[]
  readonly additions: { readonly path: string; readonly value: unknown }[]
  readonly removals: { readonly path: string; readonly value: unknown }[]
}

/** The fields in which what comes differs from what is there; lists are compared as a whole. */
export function differencesOf(current: Forms, incoming: Forms): Differences {
  const found: Differences = { changes: [], additions: [], removals: [] }
  for (const section of Object.keys(incoming)) walk(current[section] ?? {}, incoming[section], section, found)
  return found
}

function walk(current: unknown, incoming: unknown, path: string, found: Differences): void {
  if (isDeepStrictEqual(current, incoming)) return
  if (!isRecord(current) || !isRecord(incoming)) {
    found.changes.push({ path, current, incoming })
    return
  }
  for (const field of new Set([...Object.keys(current), ...Object.keys(incoming)])) {
    const at = `${path}.${field}`
    if (!Object.hasOwn(current, field)) found.additions.push({ path: at, value: incoming[field] })
    else if (!Object.hasOwn(incoming, field)) found.removals.push({ path: at, value: current[field] })
    else walk(current[field], incoming[field], at, found)
  }
}

export const risks = ['none', 'low', 'high'] as const

/** Sections that say where prompts and events go, who may do what, and what is held back. */
const weighty: ReadonlySet<string> = new Set([
  'providers',
  'routes',
  'plugins',
  'guardrails',
  'policies',
  'webhooks',
])

/**
 * How carefully differences are to be read: high for what leads prompts or events elsewhere, for what guards them, and for everything that
 * is switched off or goes.
 */
export function riskOf({ changes, additions, removals }: Differences): (typeof risks)[number] {
  if (changes.length + additions.length + removals.length === 0) return 'none'
  const isWeighty = ({ path }: { readonly path: string }): boolean => weighty.has(path.split('.')[0]!)
  const switchesOff = ({ path, value }: { readonly path: string; readonly value: unknown }): boolean =>
    (path.endsWith('.enabled') && value === false) || (isRecord(value) && value.enabled === false)
  const incoming = changes.map(({ path, incoming: value }) => ({ path, value }))
  const all = [...incoming, ...additions]
  return removals.length > 0 || all.some(isWeighty) || all.some(switchesOff) ? 'high' : 'low'
}
