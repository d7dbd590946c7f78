import { z } from 'zod'
import { defineArea } from '#kernel'
import { addModuleRoutes } from './routes/modules.ts'
import { chatWire } from './wires/chat.ts'
import { completionsWire } from './wires/completions.ts'
import { embeddingsWire } from './wires/embeddings.ts'

export default defineArea({
  settings: z.strictObject({}),
  setup(context) {
    for (const wire of [chatWire, completionsWire, embeddingsWire]) context.wire(wire)
    addModuleRoutes(context)
  },
})
