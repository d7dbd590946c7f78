import { z } from 'zod'
import { badRequest, type Context, forbidden, newId } from '#kernel'
import { checkVisibility, listed, listOf, listQuery, pageOf, type Schemas, scopeOf } from '#kit'
import { without } from '../fields.ts'
import { checkSchema } from '../schemas.ts'
import type { Settings } from '../settings.ts'
import { mayRequest, onlyAdmins } from '../workflows/check.ts'
import { newTool, toolChange } from './input.ts'
import type { ToolRow } from './rows.ts'
import { shownTool, shownToolDetail, toolDetail, toolItem } from './shown.ts'
import type { Tools } from './tools.ts'

const path = '/api/forge/tools'
const byId = z.strictObject({ id: z.string().min(1).max(100) })

/** Tools: users manage their own and see those that are shared, admins all. */
export function addToolRoutes(
  { route, settings }: Pick<Context<Settings>, 'route' | 'settings'>,
  tools: Tools,
): void {
  const detailOf = async (row: ToolRow) => shownToolDetail(row, await tools.read(row), tools.stats(row))

  const findOwn = (id: string, principal: Parameters<Tools['find']>[1]): ToolRow => {
    const row = tools.find(id, principal)
    if (principal.type === 'admin' || row.user_id === principal.userId) return row
    throw forbidden(`The tool ${row.slug} is shared, and only admins can change it.`, { param: 'id' })
  }

  route({
    method: 'get',
    path,
    access: 'any',
    summary: 'The tools that the caller may see, newest first',
    query: listQuery,
    returns: listOf('tools', toolItem),
    throws: [403],
    handle({ query, principal }) {
      const { items, ...page } = pageOf(tools.known.seenBy(principal!), query, ({ id }) => id)
      return listed('tools', { ...page, items: items.map((row) => shownTool(row, tools.stats(row))) }, query)
    },
  })

  route({
    method: 'post',
    path,
    access: 'any',
    summary: 'Register a tool for steps of workflows',
    body: newTool,
    status: 201,
    returns: toolDetail,
    throws: [403, 409],
    async handle({ body, principal }) {
      const { name: slug, description, schema, output_schema, handler, ...rest } = body
      await checkSchemas(tools.schemas, { schema, output_schema })
      const user_id = scopeOf(principal)
      const { tenant } = principal!
      if (!mayRequest(user_id, settings)) throw onlyAdmins('type')
      const owner = { ...(user_id !== undefined && { user_id }), ...(tenant !== undefined && { tenant }) }
      checkVisibility(body.visibility, owner, 'tools')
      checkSecret(handler, owner)
      checkKind(body.type, handler)
      const { headers, ...sent } = handler
      const now = new Date().toISOString()
      const row: ToolRow = {
        id: newId('tool_'),
        slug,
        ...owner,
        ...rest,
        ...(description !== undefined && { description }),
        version: 1,
        body: await tools.json.write(owner, { ...sent, schema, output_schema }),
        ...withHeaders(headers),
        created_at: now,
        updated_at: now,
      }
      await tools.create(row)
      return detailOf(row)
    },
  })

  route({
    method: 'get',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'A tool, without what its headers hold',
    params: byId,
    returns: toolDetail,
    throws: [403, 404],
    handle: ({ params: { id }, principal }) => detailOf(tools.find(id, principal!)),
  })

  route({
    method: 'put',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'Change a tool; the next use has it, also in runs that have begun',
    params: byId,
    body: toolChange,
    returns: toolDetail,
    throws: [403, 404],
    async handle({ params: { id }, body, principal }) {
      const row = findOwn(id, principal!)
      if (body.handler && !mayRequest(scopeOf(principal), settings)) throw onlyAdmins('handler')
      if (body.visibility !== undefined) checkVisibility(body.visibility, row, 'tools')
      const { description, schema, output_schema, handler: { headers, ...sent } = {}, ...rest } = body
      await checkSchemas(tools.schemas, { schema, output_schema: output_schema ?? undefined })
      checkSecret(sent, row)
      checkKind(row.type, sent)
      const before = await tools.read(row)
      // Else who may change the address could have the credentials sent there.
      if (
        sent.url !== undefined &&
        !isSameOrigin(sent.url, before.url) &&
        headers === undefined &&
        row.header_names.length > 0
      )
        throw forbidden('A tool that is sent to another place needs its headers anew.', {
          param: 'handler.headers',
        })
      const said = without(null, {
        ...before,
        ...sent,
        ...(schema && { schema }),
        ...(output_schema !== undefined && { output_schema }),
      })
      const text = await tools.json.write(row, said)
      const changed = await tools.change(row, ({ description: old, ...now }) => {
        const next = description === undefined ? old : description
        return {
          ...now,
          ...without(undefined, rest),
          ...(next !== undefined && next !== null && { description: next }),
          ...(headers !== undefined && withHeaders(headers)),
          body: text,
        }
      })
      return detailOf(changed)
    },
  })

  route({
    method: 'delete',
    path: `${path}/{id}`,
    access: 'any',
    summary: 'Delete a tool; steps that use it fail from then on',
    params: byId,
    returns: z.object({ deleted: z.literal(true), id: z.string() }),
    throws: [403, 404],
    async handle({ params: { id }, principal }) {
      await tools.delete(findOwn(id, principal!))
      return { deleted: true as const, id }
    },
  })

  const withHeaders = (headers: Readonly<Record<string, string>> = {}) => ({
    headers: tools.encrypt(headers),
    header_names: Object.keys(headers),
  })
}

/** Secrets of service.yaml are the operator's: a user must not have one sent to a place that the user names. */
function checkSecret(
  { auth_ref }: { readonly auth_ref?: string | null | undefined },
  { user_id }: { readonly user_id?: string | undefined },
): void {
  if (auth_ref && user_id !== undefined)
    throw forbidden('Only tools of admins may be sent secrets of the operator.', {
      param: 'handler.auth_ref',
    })
}

/** Refuses what a tool of this type has no use for. */
function checkKind(
  type: ToolRow['type'],
  { method, tool }: { readonly method?: string | undefined; readonly tool?: string | null | undefined },
): void {
  const wrong = type === 'mcp' ? method !== undefined && method !== 'POST' && 'method' : tool && 'tool'
  if (wrong)
    throw badRequest(`body handler.${wrong}: a tool of the type ${type} has another one, or none.`, {
      param: `handler.${wrong}`,
    })
}

const isSameOrigin = (a: string, b: string): boolean => new URL(a).origin === new URL(b).origin

async function checkSchemas(
  schemas: Schemas,
  given: Readonly<Record<string, Record<string, unknown> | undefined>>,
): Promise<void> {
  for (const [param, schema] of Object.entries(given)) if (schema) await checkSchema(schemas, schema, param)
}
