import { z } from 'zod'
import { defineModule } from '#kernel'
import { protocolOptionsHooks } from '#kit'

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const

const safetySetting = z.strictObject({
  category: z
    .string()
    .regex(/^HARM_CATEGORY_[A-Z_]+$/)
    .meta({ title: 'Category', description: 'Such as HARM_CATEGORY_HARASSMENT.' }),
  threshold: z
    .enum([
      'OFF',
      'BLOCK_NONE',
      'BLOCK_ONLY_HIGH',
      'BLOCK_MEDIUM_AND_ABOVE',
      'BLOCK_LOW_AND_ABOVE',
      'HARM_BLOCK_THRESHOLD_UNSPECIFIED',
    ])
    .meta({ title: 'Threshold', description: 'From which likelihood on an answer is blocked.' }),
})

export default defineModule({
  settings: z.strictObject({
    safety_settings: z.array(safetySetting).optional().meta({
      title: 'Safety settings',
      description: 'What is blocked, for requests that have no safety_settings of their own.',
    }),
    system: z.enum(['instruction', 'first_turn']).optional().meta({
      title: 'System messages',
      description:
        'As the instruction that the API has for them (as without this setting), or as the first words of the user, for models that take no instruction.',
    }),
    thinking_budgets: z.partialRecord(z.enum(efforts), z.int().min(-1).max(65_536)).optional().meta({
      title: 'Thinking budgets',
      description:
        'Tokens to think with, by reasoning_effort, for models that take a number; -1 leaves it to the model.',
    }),
    include_thoughts: z.boolean().optional().meta({
      title: 'Thoughts in answers',
      description: 'Whether summaries of thoughts are asked for; without this setting, whenever thinking is.',
    }),
    function_calling: z.enum(['AUTO', 'ANY', 'VALIDATED']).optional().meta({
      title: 'Function calling',
      description: 'How functions are called where the request has no tool_choice.',
    }),
    grounding: z.enum(['show', 'hide']).optional().meta({
      title: 'Grounding in answers',
      description: 'Whether answers have grounding_metadata: what was searched for and found.',
    }),
  }),

  setup: ({ id, settings }) => protocolOptionsHooks(id, 'gemini', settings),
})
