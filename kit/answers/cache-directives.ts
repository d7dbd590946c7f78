/** The directives of a client's Cache-Control for what answers without a call of its own. */
export interface CacheDirectives {
  /** Neither look nor store. */
  readonly skip: boolean
  /** Do not look, but store. */
  readonly fresh: boolean
  /** Oldest answer that will do, in seconds. */
  readonly maxAgeS: number
}

const none: CacheDirectives = { skip: false, fresh: false, maxAgeS: Number.POSITIVE_INFINITY }

/** Reads `no-store`, `no-cache` and `max-age`; whatever else it says has no meaning here. */
export function cacheDirectives(header: string | undefined): CacheDirectives {
  if (header === undefined) return none
  const said = header
    .toLowerCase()
    .split(',')
    .map((part) => part.trim())
  const maxAge = said
    .map((part) => /^max-age=(\d{1,10})$/.exec(part)?.[1])
    .find((value) => value !== undefined)
  return {
    skip: said.includes('no-store'),
    fresh: said.includes('no-cache'),
    maxAgeS: maxAge === undefined ? none.maxAgeS : Number(maxAge),
  }
}
