import { z } from 'zod'
import { defineProvider } from '#kernel'
import { anthropicProtocol } from './protocol.ts'

export default defineProvider({
  settings: z.strictObject({}),
  setup({ protocol }) {
    protocol(anthropicProtocol)
  },
})
