import { z } from 'zod'
import { defineArea } from '#kernel'
import { addBindingRoutes } from './routes/bindings.ts'
import { addChainRoute } from './routes/chain.ts'
import { addExplainRoute } from './routes/chain-explain.ts'
import { addModelRoutes } from './routes/models.ts'
import { addBulkRoute } from './routes/module-bulk.ts'
import { addInsightRoutes } from './routes/module-insight.ts'
import { addModuleRoutes } from './routes/modules.ts'
import { addProviderRoutes } from './routes/providers.ts'
import { addRuleRoutes } from './routes/rules.ts'
import { addStatusRoute } from './routes/status.ts'
import { watchProviders } from './watch.ts'
import { chatWire } from './wires/chat.ts'
import { completionsWire } from './wires/completions.ts'
import { embeddingsWire } from './wires/embeddings.ts'
import { addGemini } from './wires/gemini.ts'
import { addCountRoute } from './wires/messages/count-tokens.ts'
import { messagesWire } from './wires/messages.ts'
import { addResponses } from './wires/responses.ts'

export default defineArea({
  settings: z.strictObject({
    recheck_s: z.number().min(0).max(86_400).default(60).meta({
      title: 'Recheck',
      description: 'Seconds between checks of providers that are down or degraded; 0 for no checks.',
    }),
    stored_responses: z
      .strictObject({
        days: z.number().min(0).max(36_500).default(30).meta({
          title: 'Days',
          description: 'Days after which a stored response is deleted; with 0 no response is stored.',
        }),
        per_user: z.int().min(1).max(1_000_000).default(1000).meta({
          title: 'Per user',
          description: 'Stored responses per user. Older ones are deleted every few minutes.',
        }),
      })
      .prefault({})
      .meta({
        title: 'Stored responses',
        description: 'Answers of /v1/responses that their callers can continue from, stored encrypted.',
      }),
  }),

  setup(context) {
    const { days, per_user: perUser } = context.settings.stored_responses
    const watch = watchProviders(context, context.settings.recheck_s * 1000)
    for (const wire of [chatWire, completionsWire, embeddingsWire, messagesWire]) context.wire(wire)
    addCountRoute(context)
    addGemini(context)
    addResponses(context, { days, perUser })
    addModuleRoutes(context)
    addBulkRoute(context)
    addBindingRoutes(context)
    addInsightRoutes(context)
    addChainRoute(context)
    addExplainRoute(context)
    addProviderRoutes(context, watch)
    addModelRoutes(context)
    addRuleRoutes(context)
    addStatusRoute(context, watch)
  },
})
