import { type Context, type Principal, TraceReader } from '#kernel'
import { callProblem, collect } from '#kit'
import { type Comparison, compare } from './compare.ts'
import { originalOf } from './original.ts'
import type { ReplayRow } from './row.ts'

/** Modules that answer from what was answered before. */
const caches = ['playback', 'cachelayer', 'semanticcache', 'embedcache']

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
    const { trace, request, response } = await originalOf(use(TraceReader), original_trace_id, as)
    const { stream: _, stream_options: __, ...asked } = request
    const { id: parent, project, tags } = trace
    const made = call(
      { ...asked, model },
      { as, source: 'replay', parent, project, tags, ip, skip: caches, signal },
    )
    replay_run_id = made.id
    const answer = await collect(await made.reply)
    return { status: 'done', replay_run_id, ...storedForm(compare(response, answer, match_method)) }
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
