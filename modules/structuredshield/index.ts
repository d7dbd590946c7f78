import { z } from 'zod'
import {
  type Call,
  type Choice,
  type Completion,
  defineModule,
  type JsonObject,
  providerError,
  type Reply,
} from '#kernel'
import { collect, compileGlobs, replyWith } from '#kit'
import { asking, askingAgain } from './ask.ts'
import { extract } from './extract.ts'
import { schemaOf } from './schema.ts'
import { type Validate, Validators } from './validator.ts'

const schema = z.record(z.string(), z.unknown())

export default defineModule({
  settings: z.strictObject({
    retries: z
      .int()
      .min(0)
      .max(10)
      .default(2)
      .meta({ title: 'Retries', description: 'How often to ask again.' }),
    on_failure: z.enum(['error', 'pass']).default('error').meta({
      title: 'On failure',
      description: 'Refuse an answer that still does not fit, or pass it on as it is.',
    }),
    schemas: z.record(z.string(), schema).default({}).meta({
      title: 'Schemas',
      description:
        'JSON Schemas by the name that X-Schema gives; one named "model <name>" holds for that model.',
    }),
    native_models: z
      .array(z.string())
      .default([
        '*gpt-4o*',
        '*gpt-4.1*',
        '*gpt-5*',
        '*o1',
        '*o1-20*',
        '*o3*',
        '*o4-mini*',
        '*gemini-*',
        'mock',
      ])
      .meta({
        title: 'Native models',
        description: 'Globs of the models that take a JSON schema themselves.',
      }),
  }),

  setup({ id, settings }) {
    const validators = new Validators()
    const isNative = compileGlobs(settings.native_models)
    const registered = settings.schemas as Record<string, JsonObject>

    return {
      wraps: (call) => schemaOf(call, registered) !== undefined,
      async around(call, next) {
        const wanted = schemaOf(call, registered)?.()
        if (!wanted) return next(call)
        const validate = validators.get(wanted)
        let asked = asking(call, wanted, isNative(call.request.model))
        for (let attempt = 0; ; attempt += 1) {
          const reply = await next(asked)
          const body = await collect(reply)
          const { fitted, answer, problems } = fit(body, validate)
          if (problems.length === 0) return unchanged(reply, body, fitted) ? reply : replyWith(call, fitted)
          call.trail.note(id, 'invalid', { attempt: attempt + 1, problems: problems.length })
          if (attempt === settings.retries) return unfit(settings.on_failure, call, body, problems)
          asked = askingAgain(asked, answer, problems)
        }
      },
    }
  },
})

interface Fit {
  readonly fitted: Completion
  /** The first answer that does not fit. */
  readonly answer: string
  readonly problems: readonly string[]
}

/** Every choice as clean JSON that fits. Refusals and tool calls are not answers, and stay as they are. */
function fit(body: Completion, validate: Validate): Fit {
  let answer = ''
  let problems: readonly string[] = []
  const choices = body.choices?.map((choice): Choice => {
    const text = choice.message?.content
    if (choice.message?.refusal || choice.message?.tool_calls?.length || typeof text !== 'string')
      return choice
    const found = extract(text)
    const result = found ? validate(found.value) : { value: undefined, problems: ['/ is not JSON'] }
    if (result.problems.length > 0) {
      if (problems.length === 0) answer = text
      problems = [...problems, ...result.problems]
      return choice
    }
    return isJson(text, result.value) ? choice : withText(choice, JSON.stringify(result.value))
  })
  const same = choices?.every((choice, n) => choice === body.choices![n]) ?? true
  return { fitted: same || !choices ? body : { ...body, choices }, answer, problems }
}

const withText = (choice: Choice, content: string): Choice => ({
  ...choice,
  message: { ...choice.message!, content },
})

/** Whether the text is this very value already, whatever its white space. */
function isJson(text: string, value: unknown): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value)
  } catch {
    return false
  }
}

/** A plain answer that fits can go on with its bytes; a stream was read, and is written anew. */
const unchanged = (reply: Reply, body: Completion, fitted: Completion): boolean =>
  reply.kind === 'whole' && fitted === body

function unfit(policy: 'error' | 'pass', call: Call, body: Completion, problems: readonly string[]): Reply {
  if (policy === 'pass') return replyWith(call, body)
  throw providerError('The model did not give an answer that fits the schema.', { details: { problems } })
}
