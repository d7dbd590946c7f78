import { z } from 'zod'
import { type Call, defineModule, type Next, type Reply, StreamReply } from '#kernel'
import { Race, replyWith } from '#kit'
import { modelsOf, together } from './all.ts'
import { judged, mostAlike } from './best.ts'
import { type Answered, gather } from './gather.ts'
import { ballots } from './vote.ts'

const judge = z.strictObject({
  model: z.string().min(1).max(256).meta({ title: 'Model', description: 'The model that is asked.' }),
  criterion: z
    .string()
    .max(4000)
    .default('The best answer is correct, complete and to the point.')
    .meta({ title: 'Criterion', description: 'What makes an answer good, in words for the judge.' }),
  timeout_ms: z.int().min(100).max(600_000).default(20_000).meta({
    title: 'Time limit',
    description: 'Milliseconds that the judge may take.',
  }),
})

type Asked = z.infer<typeof judge>

export default defineModule({
  settings: z.strictObject({
    models: z.array(z.string().min(1).max(256)).max(10).default([]).meta({
      title: 'Models',
      description: 'The models that are asked in place of the one that the call names.',
    }),
    mode: z.enum(['first', 'best', 'vote', 'all']).default('first').meta({
      title: 'Mode',
      description:
        'Which answer the client gets: the first, and the other calls end; the best; the one that most models give, compared as JSON or by its words; or all, as choices.',
    }),
    judge: judge.optional().meta({
      title: 'Judge',
      description:
        'The model that chooses the best answer, at the cost of the caller. Without a judge or its verdict it is the answer that is most like the others.',
    }),
  }),

  setup({ id, settings, complete }) {
    const { models, mode, judge } = settings
    if (models.length === 0) return {}
    const arrangement = JSON.stringify(settings)
    const applies = ({ operation, context }: Call): boolean =>
      operation !== 'embedding' && context.provider === undefined

    async function first(call: Call, next: Next): Promise<Chosen> {
      const race = new Race(call, next)
      for (const model of models) race.begin(call.withRequest({ model }))
      return { reply: await race.answer, reason: `the first of ${models.length} to answer` }
    }

    async function best(call: Call, next: Next): Promise<Chosen> {
      const answers = await gather(call, models, next)
      const verdict = judge && answers.length > 1 ? await ask(call, answers, judge) : undefined
      return verdict
        ? { reply: given(call, verdict), reason: `${judge!.model} finds it best` }
        : { reply: given(call, mostAlike(answers)), reason: 'most like the others' }
    }

    async function ask(call: Call, answers: readonly Answered[], { timeout_ms, ...judge }: Asked) {
      try {
        return await judged(call, answers, { ...judge, timeoutMs: timeout_ms }, complete)
      } catch {
        call.cancel.check()
        call.trace.note(id, 'judge_failed')
        return undefined
      }
    }

    async function vote(call: Call, next: Next): Promise<Chosen> {
      const isMajority = (answers: readonly Answered[]): boolean =>
        ballots(answers)[0]!.length > models.length / 2
      const [winners] = ballots(await gather(call, models, next, isMajority))
      const votes = winners!.length
      call.trace.header('X-Votes', `${votes}/${models.length}`)
      return { reply: given(call, winners![0]!), reason: `${votes} of ${models.length} models say so` }
    }

    async function all(call: Call, next: Next): Promise<Chosen> {
      const answers = await gather(call, models, next)
      call.trace.header('X-Models', modelsOf(answers, call.wire).join(', '))
      const body = together(answers, call.wire)
      return { reply: given(call, { ...answers[0]!, body }), reason: 'the first of all that are given' }
    }

    const run = { first, best, vote, all }[mode]
    return {
      varies: (call) => (applies(call) ? arrangement : undefined),
      wraps: applies,
      async around(call, next) {
        const { reply, reason } = await run(call, next)
        const { attempt } = reply
        const chosen = attempt ? `${attempt.provider}/${attempt.model}` : 'an answer made here'
        call.trace.decide({ kind: 'multicall', chosen, reason, considered: models })
        return reply
      },
    }
  },
})

/** The answer for the client, and why it is this one. */
interface Chosen {
  readonly reply: Reply
  readonly reason: string
}

/** An answer that was collected, in the form that the call asked for, as that of the attempt that made it. */
function given(call: Call, { reply, body }: Answered): Reply {
  if (reply.kind === 'whole' && reply.body === body) return reply
  const { attempt } = reply
  const made = replyWith(call, body)
  if (!attempt) return made
  return made.kind === 'whole' ? made.by(attempt) : new StreamReply(made.wire, made.chunks, attempt)
}
