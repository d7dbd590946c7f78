import { z } from 'zod'
import type { Context } from '#kernel'
import { fileAnswer, listed, listOf, listQuery, shown, storedPage } from '#kit'
import { forms } from './forms.ts'
import { counts, file, parts, type SetRow, statuses, wish } from './row.ts'
import type { Sets } from './sets.ts'

const path = '/api/modules/trainexport/sets'

const params = z.strictObject({ id: z.string().max(100) })

const shownSet = z.object({
  id: z.string(),
  name: z.string().nullable(),
  status: z.enum(statuses).meta({ description: 'Erased: it had lines of a user whose data was erased.' }),
  created_at: z.string(),
  finished_at: z.string().nullable(),
  selection: wish.omit({ name: true }),
  mask_pii: z.boolean(),
  dedupe: z.boolean(),
  counts: counts.meta({
    description: 'Calls that were looked at, taken, and left out by reason; also while it is built.',
  }),
  files: z.array(file),
})

/** Training sets, for admins. */
export function addRoutes({ route }: Pick<Context<unknown>, 'route'>, sets: Sets): void {
  route({
    method: 'post',
    path,
    access: 'admin',
    summary: 'Build a training set of calls that were rated well',
    body: wish,
    status: 202,
    returns: shownSet,
    throws: [409],
    handle: async ({ body }) => show(await sets.begin(body)),
  })

  route({
    method: 'get',
    path,
    access: 'admin',
    summary: 'The training sets, newest first',
    query: listQuery,
    returns: listOf('sets', shownSet),
    async handle({ query }) {
      const page = await storedPage(query, (window) =>
        sets.rows.list({ ...window, index: 'created', reverse: true }),
      )
      return listed('sets', shown(page, show), query)
    },
  })

  route({
    method: 'get',
    path: `${path}/{id}`,
    access: 'admin',
    summary: 'A training set, and how far it is',
    params,
    returns: shownSet,
    handle: async ({ params: { id } }) => show(await sets.find(id)),
  })

  route({
    method: 'get',
    path: `${path}/{id}/download`,
    access: 'admin',
    summary: 'A file of a training set: lines of JSON',
    params,
    query: z.strictObject({ form: z.enum(forms).default('openai'), part: z.enum(parts).default('train') }),
    returns: fileAnswer,
    throws: [409],
    async handle({ params: { id }, query: { form, part } }) {
      const { size, sha256: etag, read } = await sets.file(id, form, part)
      const name = `${id}.${form}.${part}.jsonl`
      return { body: (from, to) => read(from, to + 1), size, etag, name, type: 'application/jsonl' }
    },
  })

  route({
    method: 'delete',
    path: `${path}/{id}`,
    access: 'admin',
    summary: 'Delete a training set with its files, also while it is built',
    params,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    async handle({ params: { id } }) {
      await sets.delete(id)
      return { deleted: true as const, id }
    },
  })
}

function show({
  wish: { name, ...selection },
  min_score,
  finished_at,
  ...row
}: SetRow): z.infer<typeof shownSet> {
  return {
    ...row,
    name: name ?? null,
    finished_at: finished_at ?? null,
    selection: { ...selection, min_score },
  }
}
