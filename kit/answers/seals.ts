import type { Sealing } from '../../contract/sealing.ts'
import type { Call } from '../../kernel/call/call.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { bodySeals, type Seal } from '../records/body-seals.ts'
import type { Awaitable } from '../work/continue-with.ts'
import type { CacheEntry, StoredEntry } from './entry.ts'

/** Seals answers on disk where a module asks for that, and opens them whether that module is still there or not. */
export interface Seals {
  /** The function that seals the answer to a call; undefined where it is stored as it is. */
  sealFor(call: Call): Awaitable<Seal> | undefined
  /** Undefined for an answer that cannot be read any more, such as after its subject was erased. */
  open(row: StoredEntry): Promise<CacheEntry | undefined>
}

export function sealsOf(context: Pick<Context<unknown>, 'id' | 'find'>, sealing: () => Sealing): Seals {
  const seals = bodySeals(context, sealing)
  return {
    sealFor({ principal }) {
      const seal = seals.sealFor(principal)
      // A key that cannot be had keeps the answer off the disk, when it is to be written.
      if (seal instanceof Promise) seal.catch(() => {})
      return seal
    },
    async open({ body, ...row }) {
      if (typeof body !== 'string') return { ...row, body }
      // Under another encryption key it is as if there were no answer.
      const text = await seals.tryOpen(body)
      return text === undefined ? undefined : { ...row, body: JSON.parse(text) }
    },
  }
}

/** The entry as it is stored. It asks for no service, as it is written while the gateway ends too. */
export async function rowOf({ seal, ...entry }: CacheEntry): Promise<StoredEntry> {
  return seal ? { ...entry, body: (await seal)(JSON.stringify(entry.body)) } : entry
}
