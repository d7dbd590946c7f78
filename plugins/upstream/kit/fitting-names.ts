import { hash } from 'node:crypto'
import type { ModelRequest } from '#kernel'
import { eachToolName } from './named-tools.ts'

/** How much of a name and of its digest stands in a short name: together with `_`, 63 characters. */
const keptLength = 50
const digestLength = 12

const digestOf = (text: string): string => hash('sha256', text).slice(0, digestLength)

/** A text in letters, digits, `_` and `-`: what fits of it, up to so many characters, and a digest of the whole. */
export const fittingName = (text: string, kept: number): string =>
  `${text.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, kept)}_${digestOf(text)}`

/** Names of functions as a provider takes them, and back. */
export interface FittingNames {
  sent(name: string): string
  original(name: string): string
  /** Whether any name differs. */
  readonly changed: boolean
  /** The names that differ, as the client knows them, and as they are sent. */
  readonly renamed: ReadonlyMap<string, string>
}

const same = (name: string): string => name
const unchanged: FittingNames = { sent: same, original: same, changed: false, renamed: new Map() }

/**
 * Names of a request that are not allowed become short ones of letters, digits and `_`: the same at every turn, and
 * different ones for different tools.
 */
export function fittingNames(request: ModelRequest, allowed: RegExp): FittingNames {
  let foreign: Set<string> | undefined
  eachToolName(request, (name) => {
    if (!allowed.test(name)) foreign = (foreign ?? new Set()).add(name)
  })
  if (!foreign) return unchanged
  const used = new Set<string>()
  eachToolName(request, (name) => used.add(name))
  const renamed = new Map(Array.from(foreign, (name) => [name, shortName(name, used)]))
  const own = new Map(Array.from(renamed, ([name, short]) => [short, name]))
  return {
    sent: (name) => renamed.get(name) ?? name,
    original: (name) => own.get(name) ?? name,
    changed: true,
    renamed,
  }
}

/** What can be read of a name, and a digest of all of it; of it and a number where another tool is called that already. */
function shortName(name: string, used: Set<string>): string {
  const readable = name.replaceAll(/[^a-zA-Z0-9_]/g, '_')
  const begun = (/^[a-zA-Z_]/.test(readable) ? readable : `_${readable}`).slice(0, keptLength)
  for (let n = 0; ; n += 1) {
    const short = `${begun}_${digestOf(n === 0 ? name : `${name} ${n}`)}`
    if (used.has(short)) continue
    used.add(short)
    return short
  }
}
