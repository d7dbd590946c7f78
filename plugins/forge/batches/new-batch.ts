import { hash } from 'node:crypto'
import { newId, type Principal } from '#kernel'
import { nanoOf, storePrincipal } from '#kit'
import { endOf, type Options } from './input.ts'
import type { NewItem } from './item-store.ts'
import type { Item } from './items.ts'
import type { BatchRow } from './rows.ts'
import type { BatchTexts } from './texts.ts'

/** Who asks for a batch, and of what. */
export interface Asked {
  readonly principal: Principal
  readonly ip: string
  readonly options: Options
  readonly workflow: BatchRow['workflow']
  readonly items: readonly Item[]
  /** Two requests of one caller with one key are one batch. */
  readonly key: string | undefined
}

/** Who counts as one caller. */
export const userOf = ({ userId, keyId }: Pick<BatchRow['principal'], 'userId' | 'keyId'>): string =>
  userId ?? keyId

/** The row of a batch that is asked for. */
export function newRow({ principal, ip, options, workflow, items, key }: Asked): BatchRow {
  const { type, name, project, visibility, concurrency, max_attempts, max_cost_usd, completion_window } =
    options
  return {
    id: newId('batch_'),
    type,
    ...(name !== undefined && { name }),
    ...(workflow && { workflow }),
    principal: storePrincipal(principal),
    ...(visibility && { visibility }),
    ip,
    project,
    status: 'queued',
    turn: 1,
    total: items.length,
    succeeded: 0,
    failed: 0,
    ...noSums,
    concurrency,
    max_attempts,
    ...(max_cost_usd !== undefined && { max_cost_nano: nanoOf(max_cost_usd) }),
    ...(key !== undefined && { asked_by: hash('sha256', `${userOf(principal)} ${key}`) }),
    created_at: new Date().toISOString(),
    expires_at: endOf(completion_window),
  }
}

/** The stored key of a request with the hash of what it asks for; undefined where it has none. */
export function sameness(
  { asked_by: key }: BatchRow,
  { workflow, options, items }: Asked,
): { readonly key: string; readonly sha256: string } | undefined {
  return key === undefined
    ? undefined
    : { key, sha256: hash('sha256', JSON.stringify([workflow?.id, options, items])) }
}

/** The items of a new batch, as they are stored. */
export async function* newItems(
  batch: BatchRow,
  items: readonly Item[],
  texts: BatchTexts,
): AsyncGenerator<NewItem> {
  for (const [index, { custom_id, body }] of items.entries())
    yield {
      row: {
        batch: batch.id,
        index,
        ...(custom_id !== undefined && { custom_id }),
        status: 'pending',
        round: 0,
        ...noSums,
      },
      input: await texts.write(batch, body),
    }
}

const noSums = { attempts: 0, tokens_in: 0, tokens_out: 0, cost_nano: 0 }
