import { z } from 'zod'
import { defineProvider } from '#kernel'
import { keyExchange } from '#provider'
import { awsExchange } from './exchange.ts'
import { bedrockProtocol } from './protocol.ts'

export default defineProvider({
  settings: z.strictObject({}),
  setup({ protocol, provide, fetch }) {
    protocol(bedrockProtocol(fetch))
    provide(keyExchange('aws'), awsExchange())
  },
})
