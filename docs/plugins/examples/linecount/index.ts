import { defineArea } from 'switchyard'
import { streamedBody } from 'switchyard/kit'
import { z } from 'zod'

export default defineArea({
  settings: z.strictObject({}),

  setup({ route }) {
    route({
      method: 'post',
      path: '/api/linecount',
      access: 'any',
      summary: 'Count the lines of a text',
      reads: true,
      body: streamedBody({ maxBytes: 2 ** 30, types: ['text/plain', 'application/jsonl'] }),
      returns: z.object({ lines: z.number() }),
      async handle({ body }) {
        let lines = 0
        for await (const bytes of body) for (const byte of bytes) if (byte === 10) lines += 1
        return { lines }
      },
    })
  },
})
