import { z } from 'zod'
import { defineProvider } from '#kernel'
import { keyExchange } from '#provider'
import { entraExchange } from './exchange.ts'

export default defineProvider({
  settings: z.strictObject({}),
  setup({ provide }) {
    provide(keyExchange('entra'), entraExchange())
  },
})
