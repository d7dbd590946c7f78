import { type Context, type Principal, TraceReader } from '#kernel'
import { type BodySeals, callProblem, collect, pastCallOf, repeatCall } from '#kit'
import { type Comparison, compare } from './compare.ts'
import type { ReplayRow } from './row.ts'
import { sealedChanges } from './sealed.ts'

/**
 * Makes the call of a replay again and compares the answers: what changes in its row. A refusal or a failure is the result. Throws
 * only when `signal` aborts.
 */
export async function replayed(
  { call, use }: Pick<Context<unknown>, 'call' | 'use'>,
  { principal, ip, original_trace_id, model, match_method }: ReplayRow,
  signal: AbortSignal,
  seals: BodySeals,
): Promise<Partial<ReplayRow>> {
  const as = principal as Principal
  let replay_run_id: string | undefined
  try {
    const past = await pastCallOf(use(TraceReader), original_trace_id, as, 'original_trace_id')
    const { stream: _, stream_options: __, ...asked } = past.request
    const made = repeatCall(call, past.trace, { ...asked, model }, { as, ip, signal })
    replay_run_id = made.id
    const answer = await collect(await made.reply)
    const changes = storedForm(compare(past.response, answer, match_method))
    const { user_id: userId, tenant } = past.trace
    return { status: 'done', replay_run_id, ...(await sealedChanges(changes, seals, { userId, tenant })) }
  } catch (error) {
    signal.throwIfAborted()
    return { status: 'failed', ...(replay_run_id && { replay_run_id }), error: callProblem(error) }
  }
}

const storedForm = ({ differences, ...rest }: Comparison): Partial<ReplayRow> => ({
  ...rest,
  differences: differences.map(({ path, before, after }) => ({
    path,
    before: { ...before },
    after: { ...after },
  })),
})
