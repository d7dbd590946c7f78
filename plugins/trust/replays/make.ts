import { type Context, type Principal, TraceReader } from '#kernel'
import { callProblem, collect, pastCallOf, repeatCall } from '#kit'
import { type Comparison, compare } from './compare.ts'
import type { ReplayRow } from './row.ts'

/**
 * Makes the call of a replay again and compares the answers: what changes in its row. A refusal or a failure is the result. Throws
 * only when `signal` aborts.
 */
export async function replayed(
  { call, use }: Pick<Context<unknown>, 'call' | 'use'>,
  { principal, ip, original_trace_id, model, match_method }: ReplayRow,
  signal: AbortSignal,
): Promise<Partial<ReplayRow>> {
  const as = principal as Principal
  let replay_run_id: string | undefined
  try {
    const past = await pastCallOf(use(TraceReader), original_trace_id, as, 'original_trace_id')
    const { stream: _, stream_options: __, ...asked } = past.request
    const made = repeatCall(call, past.trace, { ...asked, model }, { as, ip, signal })
    replay_run_id = made.id
    const answer = await collect(await made.reply)
    return { status: 'done', replay_run_id, ...storedForm(compare(past.response, answer, match_method)) }
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
