import { z } from 'zod'
import type { CacheFigures, CacheVerification, Context } from '#kernel'
import { addNumbers, usdOf } from '#kit'
import type { Caches } from '../caches.ts'

const count = z.int()

const figures = {
  entries: count.meta({ description: 'Answers held now.' }),
  bytes: count,
  hits: count,
  misses: count,
  hit_rate: z.number().meta({ description: 'Hits of all look-ups, from 0 to 1; 0 without any.' }),
  saved_usd: z
    .number()
    .meta({ description: 'What the answered calls would have cost, where prices are known.' }),
  saved_tokens: count,
}

const verification = {
  verified: count.meta({ description: 'Hits for which the provider was asked anyway.' }),
  precision: z.number().nullable().meta({
    description: 'Of those, the share in which the provider agreed, from 0 to 1; null without any.',
  }),
}

const stats = z.object({
  enabled: z.boolean().meta({ description: 'Whether a cache is on; all figures are 0 otherwise.' }),
  ...figures,
  by_kind: z.record(z.string(), z.object(figures)),
  caches: z.array(z.object({ name: z.string(), kind: z.string(), ...figures, ...verification })).meta({
    description: 'The modules, and bindings of modules, that cache answers.',
  }),
})

const none: CacheFigures = { entries: 0, bytes: 0, hits: 0, misses: 0, savedNano: 0, savedTokens: 0 }

/** What the caches that are on hold and have saved. */
export function statsRoute({ route }: Pick<Context<unknown>, 'route'>, caches: Caches): void {
  route({
    method: 'get',
    path: '/api/cache/stats',
    access: 'admin',
    summary: 'Hits, misses, size and savings of the caches of answers',
    returns: stats,
    handle() {
      const on = caches.on.map((cache) => ({
        name: cache.name,
        kind: cache.kind,
        sums: cache.figures(),
        checks: checked(cache.verification?.()),
      }))
      const kinds = Map.groupBy(on, ({ kind }) => kind)
      return {
        enabled: on.length > 0,
        ...shown(on.map(({ sums }) => sums)),
        by_kind: Object.fromEntries(
          Array.from(kinds, ([kind, own]) => [kind, shown(own.map(({ sums }) => sums))]),
        ),
        caches: on.map(({ name, kind, sums, checks }) => ({ name, kind, ...shown([sums]), ...checks })),
      }
    },
  })
}

/** Caches together. */
function shown(all: readonly CacheFigures[]) {
  const sums = all.reduce((sum, own) => addNumbers(sum, own), none)
  const { entries, bytes, hits, misses, savedNano, savedTokens } = sums
  const looked = hits + misses
  return {
    entries,
    bytes,
    hits,
    misses,
    hit_rate: looked === 0 ? 0 : hits / looked,
    saved_usd: usdOf(savedNano),
    saved_tokens: savedTokens,
  }
}

const checked = ({ verified, agreed }: CacheVerification = { verified: 0, agreed: 0 }) => ({
  verified,
  precision: verified === 0 ? null : agreed / verified,
})
