import { z } from 'zod'
import { answer, answers, badRequest, type Context, conflict } from '#kernel'
import { isOver } from '../runs/rows.ts'
import type { Runs } from '../runs/runs.ts'
import { definitionOf } from './definition.ts'
import type { Experiments } from './experiments.ts'
import { experimentInput } from './input.ts'
import { experimentDetailOf, path } from './routes.ts'
import { experimentRun } from './shown.ts'

export const runFields = {
  wait_ms: z.int().min(0).max(60_000).default(10_000).meta({
    description: 'How long the answer may wait for the end.',
  }),
  project: z.string().min(1).max(100).default('default').meta({ description: 'Of the calls.' }),
}

const body = experimentInput.extend({
  experiment_id: z.string().min(1).max(100).optional().meta({
    description: 'An experiment that was made before, in place of all other fields.',
  }),
  ...runFields,
})

/** To begin an experiment. A client that leaves does not end it. */
export function addExperimentRunRoute(
  { route }: Pick<Context<unknown>, 'route'>,
  experiments: Experiments,
  runs: Runs,
): void {
  route({
    method: 'post',
    path: `${path}/run`,
    access: 'any',
    summary:
      'Begin an experiment with your own keys, one that was made before or a new one; 200 with its results, or 202 while it goes on',
    body,
    returns: answers({ 200: experimentRun, 202: experimentRun }),
    throws: [403, 404, 409, 413, 429],
    async handle({ body: { experiment_id: id, wait_ms, project, ...fields }, principal, ip, signal }) {
      const asked = { principal: principal!, ip, project }
      const row = id === undefined ? await begun(fields) : await again(id, Object.keys(fields)[0])
      await runs.waits.until(row.id, wait_ms, signal)
      const run = await runs.store.runs.get(row.id)
      const detail = {
        experiment_id: row.id,
        ...(await experimentDetailOf(experiments, runs, row)),
      }
      return run && isOver(run) ? answer(200, detail) : answer(202, detail)

      function begun({ name, description, visibility, ...said }: typeof fields) {
        const head = { name, description, visibility }
        return experiments.createAndRun(head, definitionOf(said), asked, signal)
      }

      async function again(id: string, other: string | undefined) {
        if (other !== undefined)
          throw badRequest(`body ${other}: change the experiment before it begins, by PUT.`, { param: other })
        const row = await experiments.things.findOwn(id, principal)
        const said = await experiments.read(row)
        if (!said)
          throw conflict('What the experiment asks cannot be read any more.', { param: 'experiment_id' })
        return experiments.run(row, said, asked, signal)
      }
    },
  })
}
