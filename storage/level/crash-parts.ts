import { z } from 'zod'
import type { CollectionOptions, LogOptions } from '../index.ts'

/** What the crash tests and the process they kill both know. */
export const Account = z.object({ owner: z.string(), balance: z.number() })

export const accountOptions = {
  schema: Account,
  indexes: { owner: (row) => row.owner },
} satisfies CollectionOptions<z.infer<typeof Account>>

export const NewerAccount = Account.extend({ currency: z.string() })

export const newerAccountOptions = {
  schema: NewerAccount,
  version: 2,
  indexes: { owner: (row) => row.owner, currency: (row) => row.currency },
  migrate: (row) => ({ ...Account.parse(row), currency: 'eur' }),
} satisfies CollectionOptions<z.infer<typeof NewerAccount>>

export const Link = z.object({ seq: z.number(), after: z.number() })

export function linkAfter(previous: z.infer<typeof Link> | undefined, seq: number): z.infer<typeof Link> {
  return { seq, after: previous?.seq ?? 0 }
}

export interface Event {
  readonly id: string
  readonly at: number
  readonly kind: string
}

export const eventOptions = {
  id: (event) => event.id,
  time: (event) => event.at,
  numbers: { at: ({ at }) => at },
  fields: { kind: (event) => event.kind },
  flushMs: 5,
  rollup: (event, add) => add([event.kind], { events: 1 }),
} satisfies LogOptions<Event>

/** Says what a body was made of. */
export const noteOptions = { schema: z.object({ seed: z.string() }) } satisfies CollectionOptions<{
  seed: string
}>

/** A body that tells what it was made of, at every place. */
export async function* bodyOf(seed: string, size: number): AsyncGenerator<Uint8Array> {
  const line = Buffer.from(`${seed}\n`)
  for (let left = size; left > 0; left -= line.length * 500)
    yield Buffer.concat(Array.from({ length: 500 }, () => line)).subarray(0, left)
}
