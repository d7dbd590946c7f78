import { z } from 'zod'
import { defineModule } from '#kernel'
import { protocolOptionsHooks } from '#kit'

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const

const safetySetting = z.strictObject({
  category: z
    .string()
    .regex(/^HARM_CATEGORY_[A-Z_]+$/)
    .meta({ title: 'Category', description: 'A category such as HARM_CATEGORY_HARASSMENT.' }),
  threshold: z
    .enum([
      'OFF',
      'BLOCK_NONE',
      'BLOCK_ONLY_HIGH',
      'BLOCK_MEDIUM_AND_ABOVE',
      'BLOCK_LOW_AND_ABOVE',
      'HARM_BLOCK_THRESHOLD_UNSPECIFIED',
    ])
    .meta({ title: 'Threshold', description: 'Likelihood from which on an answer is blocked.' }),
})

export default defineModule({
  settings: z.strictObject({
    safety_settings: z.array(safetySetting).optional().meta({
      title: 'Safety settings',
      description: 'Safety settings for requests that have none.',
    }),
    system: z.enum(['instruction', 'first_turn']).optional().meta({
      title: 'System messages',
      description:
        "Send system messages as the API's system instruction (the default), or as the first user message for models that take no instruction.",
    }),
    thinking_budgets: z.partialRecord(z.enum(efforts), z.int().min(-1).max(65_536)).optional().meta({
      title: 'Thinking budgets',
      description:
        'Thinking tokens for each reasoning_effort, for models that take a number; -1 leaves the number to the model.',
    }),
    include_thoughts: z.boolean().optional().meta({
      title: 'Thoughts in answers',
      description:
        'Whether to request thought summaries. By default they are requested together with thinking.',
    }),
    function_calling: z.enum(['AUTO', 'ANY', 'VALIDATED']).optional().meta({
      title: 'Function calling',
      description: 'Function calling mode for requests without tool_choice.',
    }),
    grounding: z.enum(['show', 'hide']).optional().meta({
      title: 'Grounding in answers',
      description: 'Whether answers include grounding_metadata, with the searches and their results.',
    }),
  }),

  setup: ({ id, settings }) => protocolOptionsHooks(id, 'gemini', settings),
})
