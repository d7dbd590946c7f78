import { z } from 'zod'
import {
  type Call,
  type Choice,
  type Completion,
  defineModule,
  type GatewayError,
  type JsonObject,
  providerError,
  type Reply,
  type StreamReply,
} from '#kernel'
import { collect, replyWith, revealing, Schemas } from '#kit'
import { asking, askingAgain } from './ask.ts'
import { answerOf, fit, problemsAsItStands } from './fit.ts'
import { variesBy, wantedOf } from './schema.ts'
import { type Validate, Validators } from './validator.ts'
import { watching } from './watch.ts'

const schema = z.record(z.string(), z.unknown())

export default defineModule({
  settings: z.strictObject({
    retries: z
      .int()
      .min(0)
      .max(10)
      .default(2)
      .meta({ title: 'Retries', description: 'How often to ask the model again.' }),
    on_failure: z.enum(['error', 'pass']).default('error').meta({
      title: 'On failure',
      description: 'Refuse an answer that still does not match, or pass it on unchanged.',
    }),
    schemas: z.record(z.string(), schema).default({}).meta({
      title: 'Schemas',
      description:
        'JSON Schemas by the name in X-Schema. A schema named "model <name>" applies to that model.',
    }),
  }),

  setup({ id, settings, inspect, own }) {
    const schemas = new Schemas()
    own(() => schemas.close())
    const validators = new Validators(schemas)
    const registered = settings.schemas as Record<string, JsonObject>
    const { retries, on_failure: policy } = settings

    /** The provider itself holds the model to the form: what comes is passed on, and looked at beside it. */
    const watched = (reply: StreamReply, call: Call, validate: Validate): Reply => {
      const check = async (choice: Choice): Promise<GatewayError | undefined> => {
        const text = answerOf(choice)
        const problems = text === undefined ? [] : await problemsAsItStands(text, validate)
        if (problems.length === 0) return undefined
        call.trace.note(id, 'invalid', { problems: problems.length })
        return policy === 'error' ? unfit(problems) : undefined
      }
      return reply.through(watching(reply.chunks, check))
    }

    return {
      varies: (call) => variesBy(call, registered),
      wraps: (call) => wantedOf(call, registered) !== undefined,
      async around(call, next) {
        const guarded = async (text: string) => (await inspect(call, [{ role: 'user', text }]))[0]!
        const wanted = await wantedOf(call, registered)?.(guarded)
        if (!wanted) return next(call)
        const validate = await validators.get(wanted.schema, revealing(call))
        let asked = asking(call, wanted)
        for (let attempt = 0; ; attempt += 1) {
          const reply = await next(asked)
          const isNative = call.trace.served?.structuredOutput === 'native'
          if (isNative && wanted.isAny) return reply
          if (isNative && reply.kind === 'stream') return watched(reply, call, validate)
          const body = await collect(reply)
          const { fitted, answer, problems } = await fit(body, validate)
          if (problems.length === 0) return unchanged(reply, body, fitted) ? reply : replyWith(call, fitted)
          call.trace.note(id, 'invalid', { attempt: attempt + 1, problems: problems.length })
          if (attempt === retries) {
            if (policy === 'error') throw unfit(problems)
            return replyWith(call, body)
          }
          asked = askingAgain(asked, answer, problems)
        }
      },
    }
  },
})

/** A plain answer that fits can go on with its bytes; a stream was read, and is written anew. */
const unchanged = (reply: Reply, body: Completion, fitted: Completion): boolean =>
  reply.kind === 'whole' && fitted === body

const unfit = (problems: readonly string[]): GatewayError =>
  providerError('The model did not give an answer that matches the schema.', { details: { problems } })
