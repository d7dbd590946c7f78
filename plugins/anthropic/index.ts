import { z } from 'zod'
import { defineProvider } from '#kernel'
import { counter, TokenCounters } from './counter.ts'
import { anthropicProtocol } from './protocol.ts'

export default defineProvider({
  settings: z.strictObject({}),
  setup({ protocol, provide }) {
    protocol(anthropicProtocol)
    provide(TokenCounters, counter)
  },
})
