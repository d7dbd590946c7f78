import { z } from 'zod'
import { defineEvent } from '../events.ts'

export const ModuleChanged = defineEvent(
  'module.changed',
  z.object({ name: z.string(), enabled: z.boolean(), state: z.string(), generation: z.int() }),
  { description: 'A plugin was toggled or reconfigured.' },
)
