import { z } from 'zod'

/** The lines of training files, as the documentation of the providers has them. */

const text = z.string().min(1)
const parameters = z.looseObject({ type: z.literal('object') })

const toolName = z.string().regex(/^[\w-]{1,64}$/)

const toolCall = z.strictObject({
  id: text,
  type: z.literal('function'),
  function: z.strictObject({
    name: toolName,
    arguments: z.string().refine((json) => typeof JSON.parse(json) === 'object'),
  }),
})

const openaiMessage = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: z.string() }),
  z.strictObject({ role: z.literal('user'), content: text }),
  z.strictObject({ role: z.literal('tool'), tool_call_id: text, content: z.string() }),
  z
    .strictObject({
      role: z.literal('assistant'),
      content: text.optional(),
      tool_calls: z.array(toolCall).min(1).optional(),
    })
    .refine(({ content, tool_calls }) => content !== undefined || tool_calls !== undefined),
])

/** OpenAI's supervised fine-tuning of chat models. */
export const openaiLine = z
  .strictObject({
    messages: z.array(openaiMessage).min(2),
    tools: z
      .array(
        z.strictObject({
          type: z.literal('function'),
          function: z.strictObject({ name: toolName, description: z.string().optional(), parameters }),
        }),
      )
      .min(1)
      .optional(),
  })
  .refine(({ messages }) => messages.at(-1)?.role === 'assistant', 'must end with an answer')

const block = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text }),
  z.strictObject({ type: z.literal('tool_use'), id: text, name: toolName, input: z.looseObject({}) }),
  z.strictObject({ type: z.literal('tool_result'), tool_use_id: text, content: z.string() }),
])

/** Claude's: two roles that alternate, the user first and an answer last, and the system text beside them. */
export const anthropicLine = z
  .strictObject({
    system: text.optional(),
    messages: z
      .array(
        z.strictObject({
          role: z.enum(['user', 'assistant']),
          content: z.union([text, z.array(block).min(1)]),
        }),
      )
      .min(2),
    tools: z
      .array(z.strictObject({ name: toolName, description: z.string().optional(), input_schema: parameters }))
      .min(1)
      .optional(),
  })
  .refine(
    ({ messages }) =>
      messages.every(({ role }, n) => role === (n % 2 === 0 ? 'user' : 'assistant')) &&
      messages.length % 2 === 0,
    'must alternate, and end with an answer',
  )
