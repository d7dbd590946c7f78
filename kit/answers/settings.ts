import { z } from 'zod'
import { answerSharing } from './answer-sharing.ts'

/** The settings of modules that keep whole answers. */
export const answerCacheFields = {
  ttl_s: z
    .int()
    .min(1)
    .default(3600)
    .meta({ title: 'Time to live', description: 'Seconds for which an answer may be reused.' }),
  max_entries: z
    .int()
    .min(1)
    .default(10_000)
    .meta({ title: 'Maximum entries', description: 'Largest number of stored answers.' }),
  max_bytes: z
    .int()
    .min(1024)
    .default(256 * 1024 * 1024)
    .meta({ title: 'Maximum memory', description: 'Largest size of the answers in memory, in bytes.' }),
  share: answerSharing,
  tool_calls: z.boolean().default(false).meta({
    title: 'Tool calls',
    description: 'Whether answers with tool calls are stored too.',
  }),
}
