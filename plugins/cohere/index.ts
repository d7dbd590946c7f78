import { z } from 'zod'
import { defineProvider } from '#kernel'
import { cohereProtocol } from './protocol.ts'

export default defineProvider({
  settings: z.strictObject({}),
  setup({ protocol }) {
    protocol(cohereProtocol)
  },
})
