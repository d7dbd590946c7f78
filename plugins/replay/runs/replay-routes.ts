import { z } from 'zod'
import { type Context, forbidden, newId, type Principal, TraceReader } from '#kernel'
import { pastCallOf } from '#kit'
import { callerOf, demandReplays } from './caller.ts'
import { batchInput, replayInput } from './input.ts'
import type { Question, RunMaker } from './make.ts'
import { overridden, templateOf } from './overrides.ts'
import { changeBy, runDetail } from './row.ts'
import type { ShownRuns } from './shown.ts'

/** Runs of a batch that are under way at a time. */
const atATime = 3

type Asked = Omit<z.infer<typeof replayInput>, 'target_model'>

const change = z.number().nullable()

const batch = z.object({
  batch_id: z.string(),
  trace_id: z.string(),
  source: runDetail.shape.source,
  results: z.array(runDetail.extend({ cost_delta: change, speed_delta: change })),
  errors: z.array(
    z.object({ id: z.string(), target_model: z.string(), code: z.string(), message: z.string() }),
  ),
})

/** To make past calls again with other models: users their own, admins all. */
export function addReplayRoutes(
  { route, use, find }: Pick<Context<unknown>, 'route' | 'use' | 'find'>,
  maker: RunMaker,
  shownRuns: ShownRuns,
): void {
  /** What each run of a past call asks but for its model. Throws where the call cannot be made again so. */
  async function prepared(
    { trace_id: trace, overrides: asked, visibility }: Asked,
    principal: Principal,
  ): Promise<(model: string) => Question> {
    demandReplays(find, principal)
    if (visibility === 'shared' && principal.type !== 'admin')
      throw forbidden('Only runs of admins can be shared with all.', { param: 'visibility' })
    const past = await pastCallOf(use(TraceReader), trace, principal, 'trace_id')
    const request = await overridden(past.request, asked, templateOf({ find }, past.trace, principal))
    return (model) => ({ past, request: { ...request, model }, overrides: asked, visibility })
  }

  route({
    method: 'post',
    path: '/api/replay',
    access: 'any',
    summary: 'Ask another model what a past call asked, at your own cost; answers when the run has ended',
    body: replayInput,
    status: 201,
    returns: runDetail,
    throws: [403, 404, 422],
    async handle({ body, ...input }) {
      const question = await prepared(body, input.principal!)
      return shownRuns.ended(await maker.make(question(body.target_model), callerOf(input)))
    },
  })

  route({
    method: 'post',
    path: '/api/replay/batch',
    access: 'any',
    summary:
      'Ask up to five models what a past call asked, at your own cost; answers when all runs have ended',
    body: batchInput,
    status: 201,
    returns: batch,
    throws: [403, 404, 422],
    async handle({ body, ...input }) {
      const { trace_id, target_models } = body
      const question = await prepared(body, input.principal!)
      const batch_id = newId('rpb_')
      const caller = callerOf(input)
      const runs = await inTurns(target_models, atATime, async (model) => {
        caller.signal.throwIfAborted()
        return shownRuns.ended(await maker.make({ ...question(model), batch: batch_id }, caller))
      })
      return {
        batch_id,
        trace_id,
        source: runs[0]!.source,
        results: runs
          .filter(({ status }) => status === 'success')
          .map((run) => ({
            ...run,
            cost_delta: run.delta.cost_usd,
            speed_delta: changeBy(run.source.latency_ms, run.target.latency_ms),
          })),
        errors: runs.flatMap(({ id, target, error }) =>
          error ? [{ id, target_model: target.model, ...error }] : [],
        ),
      }
    },
  })
}

/** The results of `run` in the order of the items, so many of which are under way at a time. */
async function inTurns<T, R>(
  items: readonly T[],
  most: number,
  run: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = []
  const rest = items.entries()
  const work = async (): Promise<void> => {
    for (const [i, item] of rest) results[i] = await run(item)
  }
  await Promise.all(Array.from({ length: most }, work))
  return results
}
