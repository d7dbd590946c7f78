import { z } from 'zod'
import { defineProvider } from '#kernel'
import { bedrockProtocol } from './protocol.ts'

export default defineProvider({
  settings: z.strictObject({}),
  setup({ protocol, fetch }) {
    protocol(bedrockProtocol(fetch))
  },
})
