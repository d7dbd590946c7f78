import { badRequest, type Call } from '#kernel'

/** Whom answers are for, the strictest first. */
export const audiences = ['child', 'teen', 'adult'] as const
export type Audience = (typeof audiences)[number]

export const header = 'X-Audience'

export interface AudienceSettings {
  readonly default_audience: Audience
  readonly users: Readonly<Record<string, Audience>>
  readonly keys: Readonly<Record<string, Audience>>
}

/**
 * The audience of a call: the strictest of what its user, its key and its header say. The default stands in for the user and the
 * key, and not for the header, so the header can only make it stricter. Throws a bad request for a header that names none.
 */
export function audienceOf({ principal, context }: Call, settings: AudienceSettings): Audience {
  const { default_audience, users, keys } = settings
  const user = principal.userId === undefined ? undefined : own(users, principal.userId)
  const key = own(keys, principal.keyId)
  const known = user || key ? [user, key] : [default_audience]
  const said = [...known, named(context.headers['x-audience'])]
  return audiences.find((audience) => said.includes(audience)) ?? default_audience
}

function named(said: string | string[] | undefined): Audience | undefined {
  if (said === undefined) return undefined
  const audience = audiences.find((one) => one === String(said).trim().toLowerCase())
  if (audience) return audience
  throw badRequest(`${header} must be one of ${audiences.join(', ')}.`, { param: header })
}

const own = (by: Readonly<Record<string, Audience>>, id: string): Audience | undefined =>
  Object.hasOwn(by, id) ? by[id] : undefined
