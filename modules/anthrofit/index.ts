import { z } from 'zod'
import { defineModule } from '#kernel'
import { protocolOptionsHooks } from '#kit'

const efforts = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
const places = ['tools', 'system', 'messages'] as const

const cache = z.strictObject({
  at: z.array(z.enum(places)).default([]).meta({
    title: 'Places',
    description: 'Where marks are set: after the tools, the system text or the last message.',
  }),
  ttl: z
    .enum(['5m', '1h'])
    .default('5m')
    .meta({ title: 'Time to live', description: 'How long the service keeps the cached text.' }),
})

export default defineModule({
  settings: z.strictObject({
    system: z.enum(['merge', 'in_place']).optional().meta({
      title: 'System messages',
      description:
        'System messages inside a conversation: merge them into the system text (the default), or leave them in place as user messages.',
    }),
    thinking_budgets: z.partialRecord(z.enum(efforts), z.int().min(1024)).optional().meta({
      title: 'Thinking budgets',
      description: 'Thinking tokens for each reasoning_effort, for models that take a number.',
    }),
    thinking_share: z.number().min(0.05).max(0.95).optional().meta({
      title: 'Thinking share',
      description: 'Largest share of an answer that may be thinking; 0.8 by default.',
    }),
    forced_tools: z.enum(['without_thinking', 'as_auto']).optional().meta({
      title: 'Forced tools',
      description:
        'The service refuses requests that force a tool and ask for thinking: drop the thinking (the default), or let the model choose its tool.',
    }),
    cache: cache.optional().meta({
      title: 'Cache marks',
      description: "Marks for the service's prompt cache, added to requests without any.",
    }),
    betas: z
      .array(z.string().regex(/^[\w.-]+$/))
      .optional()
      .meta({
        title: 'Betas',
        description: "Names to add to the client's anthropic-beta header.",
      }),
    thinking: z.enum(['show', 'hide']).optional().meta({
      title: 'Thinking in answers',
      description:
        "Whether answers include the model's thinking. Hidden thinking is not returned to the service either. Clients of Anthropic's own protocol always get it.",
    }),
    citations: z.enum(['show', 'hide']).optional().meta({
      title: 'Citations in answers',
      description:
        "Whether answers include citations as annotations. Clients of Anthropic's own protocol always get them.",
    }),
  }),

  setup: ({ id, settings }) => protocolOptionsHooks(id, 'anthropic', settings),
})
