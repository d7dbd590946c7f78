import { z } from 'zod'
import { type Context, conflict } from '#kernel'
import { runsPath } from '../addressed.ts'
import { value } from '../workflows/value.ts'
import { byId, findRun } from './routes.ts'
import type { StepRow } from './rows.ts'
import type { Runs } from './runs.ts'
import { runDetail } from './shown.ts'

const decision = z.strictObject({
  step_id: z
    .string()
    .min(1)
    .max(200)
    .meta({ description: 'The path of the step, as the log of steps has it.' }),
  approved: z
    .boolean()
    .default(true)
    .meta({ description: 'False refuses: the step fails with the code rejected.' }),
  comment: z.string().max(2000).optional(),
  data: value.optional().meta({ description: 'For later steps, as `output.data` of this one.' }),
})

const rejected = { code: 'rejected', message: 'A person refused.' }

/** To decide a step that waits for a person: the owner of the run, or an admin. */
export function addApproveRoute({ route }: Pick<Context<unknown>, 'route'>, runs: Runs): void {
  route({
    method: 'post',
    path: `${runsPath}/{id}/approve`,
    access: 'any',
    summary: 'Decide a step that waits for a person; the run goes on',
    params: byId,
    body: decision,
    returns: runDetail,
    throws: [403, 404, 409],
    async handle({ params: { id }, body: { step_id, approved, comment, data }, principal }) {
      const run = await findRun(runs, id, principal)
      const output = {
        approved,
        by: principal!.userId ?? principal!.keyId,
        comment: comment ?? null,
        data: data ?? null,
      }
      const text = await runs.texts.write(run, output)
      const decided = (step: StepRow): StepRow => ({
        ...step,
        output: text,
        latency_ms: Math.max(0, Date.now() - Date.parse(step.started_at)),
        ...(approved ? { status: 'completed' } : { status: 'failed', error: rejected }),
      })
      const before = await runs.store.steps.get(id, step_id)
      if (before && before.type !== 'human')
        throw conflict(`The step ${step_id} waits for no person.`, { param: 'step_id' })
      await runs.wake(id, await runs.store.steps.decide(id, step_id, decided))
      return runs.texts.detailOf(await findRun(runs, id, principal))
    },
  })
}
