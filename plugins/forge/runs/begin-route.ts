import { z } from 'zod'
import { answer, answers, badRequest, type Context, conflict, tooLarge } from '#kernel'
import { idempotencyKey, type Schemas } from '#kit'
import { bySlug, ownerQuery, workflowsPath } from '../addressed.ts'
import { problemIn } from '../schemas.ts'
import type { Settings } from '../settings.ts'
import { checkRequests } from '../workflows/check.ts'
import { value } from '../workflows/value.ts'
import type { Workflows } from '../workflows/workflows.ts'
import { isSettled } from './rows.ts'
import type { Runs } from './runs.ts'
import { runDetail } from './shown.ts'

const body = z.strictObject({
  input: value.default({}),
  wait_ms: z.int().min(0).max(60_000).default(10_000).meta({
    description: 'How long the answer may wait for the end of the run.',
  }),
  project: z
    .string()
    .min(1)
    .max(100)
    .default('default')
    .meta({ description: 'Of the calls that the run makes.' }),
})

/** To begin a run. A client that leaves does not end it. */
export function addBeginRoute(
  { route, settings }: Pick<Context<Settings>, 'route' | 'settings'>,
  workflows: Workflows,
  runs: Runs,
): void {
  route({
    method: 'post',
    path: `${workflowsPath}/{slug}/run`,
    access: 'any',
    summary:
      'Begin a run of a workflow with your own keys; 200 with what came of it, or 202 while it goes on',
    params: bySlug,
    query: ownerQuery,
    body,
    returns: answers({ 200: runDetail, 202: runDetail }),
    throws: [403, 404, 409, 413, 429],
    async handle({
      params: { slug },
      query,
      body: { input, wait_ms, project },
      principal,
      ip,
      headers,
      signal,
    }) {
      const workflow = workflows.shelf.known.find(slug, principal!, query.user_id)
      if (!workflow.enabled) throw conflict(`The workflow ${slug} is switched off.`, { param: 'slug' })
      if (Buffer.byteLength(JSON.stringify(input)) > settings.max_input_bytes)
        throw tooLarge(`An input may have ${settings.max_input_bytes} bytes.`, { param: 'input' })
      const { steps, input_schema: schema } = await workflows.read(workflow, workflow.current_version)
      checkRequests({ steps }, workflow, settings)
      if (schema) await checkInput(workflows.schemas, schema, input)
      const key = idempotencyKey(headers)
      const added = await runs.add(workflow, steps.length, { principal: principal!, ip, project, input, key })
      await runs.waits.until(added.id, wait_ms, signal)
      const row = (await runs.store.runs.get(added.id)) ?? added
      const detail = await runs.texts.detailOf(row)
      return isSettled(row) ? answer(200, detail) : answer(202, detail)
    },
  })
}

async function checkInput(schemas: Schemas, schema: Record<string, unknown>, input: unknown): Promise<void> {
  const problem = await problemIn(schemas, schema, input)
  if (problem !== undefined)
    throw badRequest(`body input: does not match the input_schema of the workflow: ${problem}.`, {
      param: 'input',
    })
}
