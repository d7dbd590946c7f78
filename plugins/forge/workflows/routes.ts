import { z } from 'zod'
import { badRequest, type Context, conflict, newId, type Principal } from '#kernel'
import { checkVisibility, listed, listOf, listQuery, pageOf, scopeOf } from '#kit'
import { bySlug, ownerQuery, workflowsPath as path } from '../addressed.ts'
import type { Runs } from '../runs/runs.ts'
import { newWorkflow, slugOf, workflowChange } from './input.ts'
import type { WorkflowRow } from './rows.ts'
import { shownDetail, shownWorkflow, workflowDetail, workflowItem } from './shown.ts'
import type { Workflows } from './workflows.ts'

const version = z.coerce.number().int().min(1).max(1_000_000)

/** Workflows: users manage their own and see those that are shared, admins all. */
export function addWorkflowRoutes(
  { route }: Pick<Context<unknown>, 'route'>,
  workflows: Workflows,
  runs: Runs,
): void {
  const { shelf } = workflows
  const { known } = shelf

  const detailOf = async (row: WorkflowRow, version = row.current_version) =>
    shownDetail(row, version, await workflows.read(row, version))

  route({
    method: 'get',
    path,
    access: 'any',
    summary: 'The workflows that the caller may see, newest first, without their steps',
    query: listQuery,
    returns: listOf('workflows', workflowItem),
    throws: [403],
    handle({ query, principal }) {
      const { items, ...page } = pageOf(known.seenBy(principal!), query, ({ id }) => id)
      return listed('workflows', { ...page, items: items.map(shownWorkflow) }, query)
    },
  })

  route({
    method: 'post',
    path,
    access: 'any',
    summary: 'Make a workflow',
    body: newWorkflow,
    status: 201,
    returns: workflowDetail,
    throws: [403, 409, 413],
    async handle({ body, principal }) {
      const { slug = slugOf(body.name), name, description, visibility, enabled, ...said } = body
      if (slug === '')
        throw badRequest('body slug: the name has no letters or digits to make one of.', { param: 'slug' })
      const owner = { ...ownerOf(principal!), slug }
      checkVisibility(visibility, owner, 'workflows')
      const draft = await workflows.draft(owner, said, authorOf(principal!))
      const row: WorkflowRow = {
        ...owner,
        visibility,
        name,
        ...(description !== undefined && { description }),
        enabled,
        current_version: 1,
        created_at: draft.created_at,
        updated_at: draft.created_at,
      }
      await shelf.create(row, draft)
      return detailOf(row)
    },
  })

  route({
    method: 'get',
    path: `${path}/{slug}`,
    access: 'any',
    summary: 'A workflow in its newest version, or another one',
    params: bySlug,
    query: ownerQuery.extend({ version: version.optional() }),
    returns: workflowDetail,
    throws: [403, 404],
    handle: ({ params: { slug }, query, principal }) =>
      detailOf(known.find(slug, principal!, query.user_id), query.version),
  })

  route({
    method: 'put',
    path: `${path}/{slug}`,
    access: 'any',
    summary: 'Change a workflow. What it does becomes a new version, and runs that have begun stay on theirs',
    params: bySlug,
    query: ownerQuery,
    body: workflowChange,
    returns: workflowDetail,
    throws: [403, 404, 409, 413],
    async handle({ params: { slug }, query, body, principal }) {
      const row = known.findOwn(slug, principal!, query.user_id)
      if (body.visibility !== undefined) checkVisibility(body.visibility, row, 'workflows')
      if (body.version !== undefined && body.version !== row.current_version)
        throw conflict(`Version ${row.current_version} is the newest one.`, { param: 'version' })
      return detailOf(await workflows.change(row, body, authorOf(principal!)))
    },
  })

  route({
    method: 'delete',
    path: `${path}/{slug}`,
    access: 'any',
    summary: 'Delete a workflow with its versions; its runs stay',
    params: bySlug,
    query: ownerQuery.extend({
      force: z.stringbool().default(false).meta({ description: 'Cancels its runs that have not ended.' }),
    }),
    returns: z.object({ deleted: z.literal(true), id: z.string(), versions: z.int() }),
    throws: [403, 404, 409],
    async handle({ params: { slug }, query, principal }) {
      const row = known.findOwn(slug, principal!, query.user_id)
      const open = await runs.store.openOf({ workflow: row.id })
      if (open.length > 0 && !query.force)
        throw conflict('Runs of the workflow have not ended. Cancel them, or say force=true.', {
          param: 'force',
        })
      for (const id of open) await runs.cancel(id)
      return { deleted: true as const, id: row.id, versions: await shelf.delete(row) }
    },
  })
}

const authorOf = ({ userId, keyId }: Principal): string => userId ?? keyId

function ownerOf(principal: Principal) {
  const user_id = scopeOf(principal)
  const { tenant } = principal
  return {
    id: newId('wf_'),
    ...(user_id !== undefined && { user_id }),
    ...(tenant !== undefined && { tenant }),
  }
}
