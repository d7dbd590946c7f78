import { z } from 'zod'
import { type Context, type LedgerQuery, notFound, type Principal, Signing } from '#kernel'
import { fileAnswer, listed, listOf, listQuery, storedPage } from '#kit'
import { ledgerPath } from './audit.ts'
import type { Chain } from './chain.ts'
import type { Checkpoints } from './checkpoints.ts'
import { seqOf } from './end.ts'
import { entrySchema } from './entry.ts'
import { exported } from './export.ts'
import type { Listing } from './listing.ts'

const word = z.string().min(1).max(200)
const seq = z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER)
const time = z.iso.datetime({ offset: true }).meta({ description: 'ISO 8601.' })

const query = listQuery.extend({
  event_type: word.optional(),
  actor: word.optional().meta({ description: 'Id of a user, a key or a module.' }),
  resource: word.optional().meta({ description: 'Id of what it was done to.' }),
  from: time.optional(),
  to: time.optional().meta({ description: 'ISO 8601, exclusive.' }),
  from_seq: seq.optional(),
  to_seq: seq.optional().meta({ description: 'Included.' }),
})

const input = z.strictObject({
  event_type: word.meta({ description: 'Dotted, such as model.approved.' }),
  action: word,
  resource: z.strictObject({ type: word, id: word }).optional(),
  detail: z.record(z.string(), z.unknown()).default({}).meta({
    description: 'Stays for good: put nothing about persons here.',
  }),
  trace_id: word.optional(),
  verdict: word.optional(),
})

interface LedgerParts {
  readonly chain: Chain
  readonly listing: Listing
  readonly checkpoints: Checkpoints
}

/** The ledger, for admins: it says what all users did. */
export function addLedgerRoutes(
  { route, use }: Context<unknown>,
  { chain, listing, checkpoints }: LedgerParts,
): void {
  route({
    method: 'get',
    path: ledgerPath,
    access: 'admin',
    summary: 'The entries of the ledger, newest first',
    query,
    returns: listOf('entries', entrySchema),
    async handle({ query: { limit, offset, cursor, ...conditions } }) {
      const window = { limit, offset, cursor }
      const page = await storedPage(window, ({ after }) =>
        listing.page(queryOf(conditions), { after, limit, offset }),
      )
      return listed('entries', page, window)
    },
  })

  route({
    method: 'post',
    path: ledgerPath,
    access: 'admin',
    summary: 'Append an entry; the key says who did it',
    body: input,
    status: 201,
    returns: entrySchema,
    handle: ({ body, principal }) => chain.append({ ...body, actor: actorOf(principal!) }, 'api'),
  })

  route({
    method: 'get',
    path: `${ledgerPath}/export`,
    access: 'admin',
    summary: 'The entries as JSON lines, with what it takes to verify them without the gateway',
    query: z.strictObject({ from_seq: seq.optional(), to_seq: seq.optional() }),
    returns: fileAnswer,
    throws: [409],
    async handle({ query: { from_seq: from = 1, to_seq } }) {
      const head = await chain.segments.head()
      const parts = {
        segments: chain.segments,
        checkpoints: await checkpoints.all(),
        keys: await use(Signing).keys(),
        from,
        to: Math.min(to_seq ?? head.seq, head.seq),
      }
      return { body: exported(parts), type: 'application/jsonl', name: 'ledger.jsonl' }
    },
  })

  route({
    method: 'get',
    path: `${ledgerPath}/{id}`,
    access: 'admin',
    summary: 'An entry',
    params: z.strictObject({ id: z.string() }),
    returns: entrySchema,
    throws: [404],
    async handle({ params: { id } }) {
      const place = seqOf(id)
      const entry = place === undefined ? undefined : await chain.segments.get(place)
      if (entry?.id !== id) throw notFound('There is no such entry.', { param: 'id' })
      return entry
    },
  })
}

const actorOf = ({ type, userId, keyId }: Principal) => ({ type, id: userId ?? keyId })

type Conditions = Omit<z.infer<typeof query>, 'limit' | 'offset' | 'cursor'>

const queryOf = ({ event_type, actor, resource, from, to, from_seq, to_seq }: Conditions): LedgerQuery => ({
  eventType: event_type,
  actor,
  resource,
  from: from === undefined ? undefined : Date.parse(from),
  to: to === undefined ? undefined : Date.parse(to),
  fromSeq: from_seq,
  toSeq: to_seq,
})
