import { z } from 'zod'
import { badRequest, type ModelRequest } from '#kernel'
import { callParams, messageContent } from '#kit'

const text = z.string().min(1).max(1_000_000)

/** A message of a client of the studio. */
export const message = z.strictObject({
  role: z.enum(['system', 'developer', 'user', 'assistant']),
  content: messageContent,
})

/** A test request. */
export const testRequest = z.strictObject({
  prompt: text.optional().meta({ description: 'The one message of the user; in place of `messages`.' }),
  messages: z.array(message).min(1).max(500).optional(),
  system: text.optional().meta({ description: 'The instructions before all messages.' }),
  model: z.string().min(1).max(256),
  provider: z.string().min(1).max(100).optional(),
  params: callParams.optional().meta({ description: 'Parameters of the call, such as temperature.' }),
  tools: z
    .array(z.looseObject({ type: z.string().max(100) }))
    .min(1)
    .max(128)
    .optional(),
  modules: z
    .record(z.string().min(1).max(100), z.literal(false))
    .refine((modules) => Object.keys(modules).length <= 100, 'may name 100 modules')
    .optional()
    .meta({
      description:
        'Modules that the call passes by, each with false, such as a cache; never those that guard.',
    }),
  api_key: z.string().min(1).max(10_000).optional().meta({
    description: 'A key for `provider`. It is used for this call only: no trace, log or module has it.',
  }),
  stream: z.boolean().default(false),
})
export type TestRequest = z.infer<typeof testRequest>

/** The call that a test request asks for. Throws a bad request that names the field. */
export function requestOf(test: TestRequest): ModelRequest {
  const { prompt, messages, system, params, tools, stream } = test
  if ((prompt === undefined) === (messages === undefined))
    throw badRequest('Send either `prompt` or `messages`.', {
      param: prompt === undefined ? 'prompt' : 'messages',
    })
  if (test.api_key !== undefined && test.provider === undefined)
    throw badRequest('An `api_key` needs a `provider`, to which it belongs.', { param: 'provider' })
  return {
    ...params,
    ...(tools && { tools }),
    ...(stream && { stream }),
    model: test.provider === undefined ? test.model : `${test.provider}/${test.model}`,
    messages: [
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      ...(messages ?? [{ role: 'user', content: prompt }]),
    ],
  } as ModelRequest
}
