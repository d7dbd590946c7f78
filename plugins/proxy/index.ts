import { z } from 'zod'
import { defineArea } from '#kernel'
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
import { addCountRoute } from './wires/messages/count-tokens.ts'
import { messagesWire } from './wires/messages.ts'

export default defineArea({
  settings: z.strictObject({}),
  setup(context) {
    const watch = watchProviders(context)
    for (const wire of [chatWire, completionsWire, embeddingsWire, messagesWire]) context.wire(wire)
    addCountRoute(context)
    addModuleRoutes(context)
    addBulkRoute(context)
    addInsightRoutes(context)
    addChainRoute(context)
    addExplainRoute(context)
    addProviderRoutes(context, watch)
    addModelRoutes(context)
    addRuleRoutes(context)
    addStatusRoute(context, watch)
  },
})
