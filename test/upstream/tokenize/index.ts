import { z } from 'zod'
import { failure } from '../openai/failure.ts'
import { serviceHeaders } from '../openai/headers.ts'
import { unauthorized } from '../openai/refusal.ts'
import { chatBody } from '../openai/schema.ts'
import { countTokens } from '../openai/tokens.ts'
import type { RecordedRequest } from '../record.ts'
import type { Wire } from '../wire.ts'

const conversation = chatBody.pick({ model: true, messages: true, tools: true })

/** The endpoints of compatible services that count a conversation, each with its answer around the count. */
const endpoints: Readonly<Record<string, { readonly body: z.ZodType; around(count: number): object }>> = {
  // vLLM's: it stands beside the API, and cuts the conversation by the model's template.
  '/tokenize': {
    body: z.strictObject({
      ...conversation.shape,
      add_generation_prompt: z.boolean().optional(),
      chat_template_kwargs: z.record(z.string(), z.unknown()).optional(),
    }),
    around: (count) => ({ count, max_model_len: 4096, tokens: Array.from({ length: count }, (_, i) => i) }),
  },
  // Moonshot's.
  '/v1/tokenizers/estimate-token-count': {
    body: z.strictObject(conversation.shape),
    around: (total_tokens) => ({ data: { total_tokens } }),
  },
}

/** Counting endpoints beside the OpenAI dialect. */
export const tokenize: Wire = {
  name: 'tokenize',
  basePath: '/v1',
  serves: ({ path }) => path in endpoints,

  refuse(request, rules) {
    const denied = unauthorized(request, rules)
    if (denied || !rules.strict) return denied
    const { error } = endpoints[request.path]!.body.safeParse(request.body)
    return error && failure(request, 400, { message: error.issues[0]!.message })
  },

  respond(request, script) {
    const body = script.body ?? endpoints[request.path]!.around(countTokens(request.rawBody))
    return {
      status: 200,
      headers: serviceHeaders(request, 'application/json'),
      stream: false,
      frames: [typeof body === 'string' ? body : JSON.stringify(body)],
    }
  },

  fail: (request: RecordedRequest, script, status) => failure(request, status, script.error),
}
