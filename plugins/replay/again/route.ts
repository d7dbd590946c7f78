import { z } from 'zod'
import { badRequest, CallChains, type Context, kernelServices, notFound, TraceReader } from '#kernel'
import { modelAskedAgain, pastCallOf } from '#kit'
import { callerOf, demandReplays } from '../runs/caller.ts'
import type { RunMaker } from '../runs/make.ts'
import { runDetail } from '../runs/row.ts'
import type { ShownRuns } from '../runs/shown.ts'
import { chainDiff, chainDiffOf } from './chain-diff.ts'

const again = z.object({
  status: runDetail.shape.status,
  original_id: z.string(),
  replay_id: z.string().meta({ description: 'The run.' }),
  trace_id: z.string().nullable().meta({ description: 'The trace of the new call.' }),
  response: z.string().nullable(),
  error: runDetail.shape.error,
  chain_diff: chainDiff.nullable().meta({ description: 'Null while one of the traces is not stored.' }),
})

/** To make a past call once more, as it was asked, through the chain of now. */
export function addAgainRoute(
  { route, use, find }: Pick<Context<unknown>, 'route' | 'use' | 'find'>,
  maker: RunMaker,
  shownRuns: ShownRuns,
): void {
  /** Refuses every chain but the one of now: modules run with the settings that they have. */
  async function checkChain(chain: string, trace: string): Promise<void> {
    const now = use(kernelServices.registry).generation.number
    if (chain === 'current' || chain === `generation:${now}`) return
    if (chain === 'original' && (await use(CallChains).of(trace))?.generation === now) return
    throw badRequest(
      `body chain: the gateway runs calls on its current chain only, which is generation ${now}; send current.`,
      { param: 'chain' },
    )
  }

  async function chainsOf(original: string, replay: string | null) {
    const chains = use(CallChains)
    const [before, after] = [await chains.of(original), replay === null ? undefined : await chains.of(replay)]
    return before && after ? chainDiffOf(before, after) : null
  }

  route({
    method: 'post',
    path: '/api/replay/{id}',
    access: 'any',
    summary: 'Make a past call once more through the current chain, at your own cost',
    params: z.strictObject({ id: z.string().min(1).max(100).meta({ description: 'Of a trace.' }) }),
    body: z
      .strictObject({
        chain: z
          .string()
          .regex(/^(current|original|generation:\d{1,9})$/)
          .default('current')
          .meta({
            description: 'current; also original or generation:N if that is the current generation.',
          }),
      })
      .default({ chain: 'current' }),
    status: 201,
    returns: again,
    throws: [403, 404, 422],
    async handle({ params: { id }, body: { chain }, ...input }) {
      if (id.startsWith('rpl_'))
        throw notFound(
          `${id} is a run: see GET /api/replay/runs/${id}. Replay the trace that its source names.`,
          {
            param: 'id',
          },
        )
      demandReplays(find, input.principal!)
      const past = await pastCallOf(use(TraceReader), id, input.principal!, 'id')
      await checkChain(chain, id)
      const request = { ...past.request, model: modelAskedAgain(past) }
      const run = await maker.make(
        { past, request, overrides: { chain }, visibility: 'private' },
        callerOf(input),
      )
      const { row } = run
      const { target, error } = await shownRuns.ended(run)
      return {
        status: row.status,
        original_id: id,
        replay_id: row.id,
        trace_id: target.trace_id,
        response: target.response,
        error,
        chain_diff: await chainsOf(id, target.trace_id),
      }
    },
  })
}
