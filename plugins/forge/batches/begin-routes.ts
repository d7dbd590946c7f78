import { z } from 'zod'
import { answer, answers, badRequest, type Context, conflict, type Principal, tooLarge } from '#kernel'
import { checkVisibility, idempotencyKey, rawBody, scopeOf } from '#kit'
import { batchPath as path } from '../addressed.ts'
import type { Settings } from '../settings.ts'
import { checkRequests } from '../workflows/check.ts'
import type { Workflows } from '../workflows/workflows.ts'
import type { Batches } from './batches.ts'
import { fileBatch, newBatch, type Options } from './input.ts'
import { checkedItems, linesOf } from './items.ts'
import type { BatchRow } from './rows.ts'
import { batchItem, shownBatch } from './shown.ts'

/** Who asks for a batch. */
interface Asking {
  readonly principal: Principal | undefined
  readonly ip: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly signal: AbortSignal
}

/** To begin a batch. A client that leaves does not end it. */
export function addBeginBatchRoutes(
  { route, settings }: Pick<Context<Settings>, 'route' | 'settings'>,
  workflows: Workflows,
  batches: Batches,
): void {
  const { batch_items: mostItems, batch_bytes: mostFileBytes, max_input_bytes: mostBytes } = settings
  const returns = answers({ 200: batchItem, 202: batchItem })
  const throws = [403, 404, 409, 413, 429]

  route({
    method: 'post',
    path,
    access: 'any',
    summary:
      'Begin a batch of model calls, or of runs of a workflow, with your own keys; 202, or 200 with one that has ended',
    body: newBatch,
    returns,
    throws,
    handle: ({ body: { input, ...options }, ...asking }) =>
      begin(options, input, (index) => `input.${index}`, asking),
  })

  const lines = rawBody({ types: ['application/jsonl', 'application/x-ndjson'], maxBytes: mostFileBytes })
  route({
    method: 'post',
    path: `${path}/file`,
    access: 'any',
    summary: 'The same with the items as lines of JSON, such as files for the batches of OpenAI have',
    query: fileBatch,
    body: {
      ...lines,
      read: async (request, usual) =>
        Promise.resolve(lines.read(request, usual)).catch((error: unknown) => {
          throw isTooLarge(error)
            ? tooLarge(`file: it may have ${mostFileBytes} bytes.`, { param: 'file' })
            : error
        }),
    },
    returns,
    throws,
    handle: async ({ body, query, ...asking }) =>
      begin(query, await linesOf(body, mostItems), (index) => `line ${index + 1}`, asking),
  })

  async function begin(
    options: Options,
    input: readonly unknown[],
    nameOf: (index: number) => string,
    { principal, ip, headers, signal }: Asking,
  ) {
    const key = idempotencyKey(headers)
    const { type, model, visibility = 'private' } = options
    checkVisibility(visibility, { user_id: scopeOf(principal) }, 'batches')
    const { workflow, schema } = await workflowOf(options, principal!)
    const { schemas } = workflows
    const items = await checkedItems(input, { type, model, schema, schemas, mostItems, mostBytes, nameOf })
    const { id } = await batches.add({ principal: principal!, ip, options, workflow, items, key })
    await batches.waits.until(id, options.wait_ms, signal)
    const row = (await batches.store.batches.get(id))!
    const goesOn = row.status === 'queued' || row.status === 'running'
    return goesOn ? answer(202, shownBatch(row)) : answer(200, shownBatch(row))
  }

  /** The workflow that a caller may run, in its version of now. */
  async function workflowOf(
    { type, workflow: slug, model }: Options,
    caller: Principal,
  ): Promise<{ workflow?: BatchRow['workflow']; schema?: Record<string, unknown> | undefined }> {
    const other = type === 'workflow' ? model && 'model' : slug && 'workflow'
    if (other) throw badRequest(`${other}: does not belong to the type ${type}.`, { param: other })
    if (type !== 'workflow') return {}
    if (slug === undefined) throw badRequest('workflow: is missing.', { param: 'workflow' })
    const row = workflows.shelf.known.find(slug, caller, undefined)
    if (!row.enabled) throw conflict(`The workflow ${slug} is switched off.`, { param: 'workflow' })
    const { steps, input_schema: schema } = await workflows.read(row, row.current_version)
    checkRequests({ steps }, row, settings)
    return {
      workflow: { id: row.id, slug: row.slug, version: row.current_version, steps: steps.length },
      schema,
    }
  }
}

const isTooLarge = (error: unknown): boolean => z.object({ status: z.literal(413) }).safeParse(error).success
