import { hash } from 'node:crypto'
import { z } from 'zod'
import {
  type Call,
  type Completion,
  defineModule,
  type GatewayError,
  providerError,
  type Reply,
} from '#kernel'
import { collect, replyWith } from '#kit'
import { checkSettings, compileChecks } from './checks.ts'
import { type Evaluation, evaluate } from './evaluation.ts'
import type { Ask } from './judge.ts'
import { retried, retry } from './retry.ts'

/** An answer, as it came, and what the checks found. */
interface Candidate {
  readonly reply: Reply
  readonly body: Completion
  readonly evaluation: Evaluation
}

export default defineModule({
  settings: z.strictObject({
    ...checkSettings,
    retries: z
      .array(retry)
      .max(5)
      .default([{ tell: true }])
      .meta({
        title: 'Retries',
        description:
          'What is done each time that an answer fails: the model is told why, asked at another temperature, or another model is asked. Each is a call that costs money.',
      }),
    on_failure: z.enum(['best', 'error']).default('best').meta({
      title: 'On failure',
      description: 'Whether the best answer is given when none passes, or an error.',
    }),
  }),

  async setup({ id, settings, mode, complete }) {
    const { retries, on_failure: policy } = settings
    // In shadow nobody pays for a judge.
    const ask: Ask | undefined =
      mode === 'enforce'
        ? (request, on, signal) => complete(request, { on, as: 'caller', signal })
        : undefined
    const checks = await compileChecks(settings, ask)
    if (checks.size === 0) return {}

    async function candidate(reply: Reply, call: Call, attempt: number): Promise<Candidate> {
      const body = await collect(reply)
      const evaluation = await evaluate(body, checks, call)
      const { score, failed } = evaluation
      call.trace.note(id, failed.length === 0 ? 'passed' : 'failed', { attempt, score, failed })
      return { reply, body, evaluation }
    }

    /** The best answer of all that were asked for; it ends with the first that passes. */
    async function bestOf(
      call: Call,
      first: Reply,
      next: (call: Call) => Promise<Reply>,
    ): Promise<Candidate> {
      let best = await candidate(first, call, 1)
      let latest = best
      for (const [n, how] of retries.entries()) {
        if (latest.evaluation.failed.length === 0) break
        try {
          latest = await candidate(
            await next(retried(call, latest.body, latest.evaluation, how)),
            call,
            n + 2,
          )
        } catch (error) {
          call.cancel.check()
          call.trace.note(id, 'retry_failed', { attempt: n + 2 })
          if (policy === 'error') throw error
          break
        }
        best = better(latest, best)
      }
      return best
    }

    const arrangement = hash('sha256', JSON.stringify(settings))
    return {
      varies: ({ operation }) => (operation === 'chat' ? arrangement : undefined),
      wraps: ({ operation }) => operation === 'chat',
      async around(call, next) {
        const { reply, body, evaluation } = await bestOf(call, await next(call), next)
        if (evaluation.failed.length > 0 && policy === 'error') throw refusal(evaluation)
        call.trace.header('x-eval-score', evaluation.score)
        return reply.kind === 'whole' ? reply : replyWith(call, body)
      },
    }
  },
})

/** The later one only if it fails fewer checks, or as many with a higher score. */
function better(later: Candidate, earlier: Candidate): Candidate {
  const fewer = earlier.evaluation.failed.length - later.evaluation.failed.length
  return fewer > 0 || (fewer === 0 && later.evaluation.score > earlier.evaluation.score) ? later : earlier
}

const refusal = ({ failed }: Evaluation): GatewayError =>
  providerError('The model gave no answer that passes the checks.', { details: { failed } })
