import { z } from 'zod'
import { defineProvider, keyExchange } from '#kernel'
import { entraExchange } from './exchange.ts'

export default defineProvider({
  settings: z.strictObject({}),
  setup({ provide }) {
    provide(keyExchange('entra'), entraExchange())
  },
})
