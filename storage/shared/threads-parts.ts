import { z } from 'zod'
import type { LogOptions } from '../index.ts'

export const Counter = z.object({ n: z.number() })

export const Entry = z.object({ seq: z.number(), after: z.number() })

export const next = (previous: z.infer<typeof Entry> | undefined, seq: number): z.infer<typeof Entry> => ({
  seq,
  after: previous?.seq ?? 0,
})

export interface Row {
  readonly id: string
  readonly by: string
}

/** Options of a log that is written only on request. */
export const rowOptions: LogOptions<Row> = {
  id: (row) => row.id,
  time: () => 1,
  fields: { by: (row) => row.by },
  flushMs: 600_000,
}
