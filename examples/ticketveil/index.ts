import { defineModule } from 'switchyard'
import { z } from 'zod'
import { ticketDetection } from './tickets.ts'

export default defineModule({
  settings: z.strictObject({
    replacement: z.string().default('[ticket]').meta({
      title: 'Replacement',
      description: 'What stands in the place of a number.',
    }),
  }),

  setup({ settings: { replacement } }) {
    const detection = ticketDetection(replacement)
    return { detect: { request: detection, reply: detection } }
  },
})
