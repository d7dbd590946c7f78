import { badRequest, type CallOrigin } from '#kernel'
import { compileGlobs } from '#kit'

/** Names of regions; a provider in any of them will do. The name `*` is every place, also one whose region is not known. */
export type Bound = readonly string[]

type BoundsBy = Readonly<Record<string, Bound>>

export interface BoundSettings {
  readonly default: Bound
  readonly tenants: BoundsBy
  readonly users: BoundsBy
  readonly keys: BoundsBy
  readonly projects: BoundsBy
}

/** By which clients bind one call. */
export const header = 'X-Region'

const name = /^[\w.-]{1,64}$/
const mostNamed = 10

/**
 * The bounds of a call, all of which hold: those of its tenant, user, key and project, or the default where none of them has one,
 * and that of the header. The header can so only narrow what the operator allows. Throws a bad request for a header that
 * names no regions.
 */
export function compileBounds(settings: BoundSettings): (origin: CallOrigin) => readonly Bound[] {
  const fallback = settings.default.length > 0 ? [settings.default] : []
  return ({ principal, context }) => {
    const set = [
      own(settings.tenants, principal.tenant),
      own(settings.users, principal.userId),
      own(settings.keys, principal.keyId),
      own(settings.projects, context.project),
    ].filter((bound) => bound !== undefined)
    const said = context.headers[header.toLowerCase()]
    const bounds = (set.length > 0 ? set : fallback).filter((bound) => !bound.includes('*'))
    return said === undefined ? bounds : [...bounds, namesIn(String(said))]
  }
}

const own = (by: BoundsBy, id: string | undefined): Bound | undefined =>
  id !== undefined && Object.hasOwn(by, id) ? by[id] : undefined

function namesIn(text: string): Bound {
  const names = text.split(',').map((one) => one.trim())
  if (names.length <= mostNamed && names.every((one) => name.test(one))) return names
  throw badRequest(`${header} must name a region, or up to ${mostNamed} with commas between them.`, {
    param: header,
  })
}

/** Tells whether a provider's own word for its region is in one of these regions; letter case does not matter. */
export function compileRegions(
  regions: Readonly<Record<string, readonly string[]>>,
): (bound: Bound, region: string) => boolean {
  const members = new Map(
    Object.entries(regions).map(([name, globs]) => [name.toLowerCase(), compileGlobs(globs)] as const),
  )
  return (bound, region) => {
    const word = region.toLowerCase()
    return bound.some((name) => name.toLowerCase() === word || members.get(name.toLowerCase())?.(word))
  }
}
