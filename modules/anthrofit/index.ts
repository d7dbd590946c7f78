import { z } from 'zod'
import { defineModule } from '#kernel'
import { protocolOptionsHooks } from '#kit'

const efforts = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
const places = ['tools', 'system', 'messages'] as const

const cache = z.strictObject({
  at: z.array(z.enum(places)).default([]).meta({
    title: 'Places',
    description: 'Where a mark is set: after the tools, the system text, the last message.',
  }),
  ttl: z
    .enum(['5m', '1h'])
    .default('5m')
    .meta({ title: 'Time to live', description: 'How long what was read stays there.' }),
})

export default defineModule({
  settings: z.strictObject({
    system: z.enum(['merge', 'in_place']).optional().meta({
      title: 'System messages',
      description:
        'Those in the midst of a conversation: merged into the system text (as without this setting), or left in their place as words of the user.',
    }),
    thinking_budgets: z.partialRecord(z.enum(efforts), z.int().min(1024)).optional().meta({
      title: 'Thinking budgets',
      description: 'Tokens to think with, by reasoning_effort, for models that take a number.',
    }),
    thinking_share: z.number().min(0.05).max(0.95).optional().meta({
      title: 'Thinking share',
      description: 'Most of an answer that may be thinking; 0.8 without this setting.',
    }),
    forced_tools: z.enum(['without_thinking', 'as_auto']).optional().meta({
      title: 'Forced tools',
      description:
        'When a request both forces a tool and asks to think, which the service refuses: do not think (as without this setting), or let the model choose its tool.',
    }),
    cache: cache.optional().meta({
      title: 'Cache marks',
      description: "Marks for the service's prompt cache, in requests that have none of their own.",
    }),
    betas: z
      .array(z.string().regex(/^[\w.-]+$/))
      .optional()
      .meta({
        title: 'Betas',
        description: 'Names for the header anthropic-beta, beside those of the client.',
      }),
    thinking: z.enum(['show', 'hide']).optional().meta({
      title: 'Thinking in answers',
      description:
        'Whether answers have what the model thought. Hidden thoughts are not sent back either; clients of the protocol itself always get them.',
    }),
    citations: z.enum(['show', 'hide']).optional().meta({
      title: 'Citations in answers',
      description:
        'Whether answers have citations as annotations; clients of the protocol itself always get them.',
    }),
  }),

  setup: ({ id, settings }) => protocolOptionsHooks(id, 'anthropic', settings),
})
