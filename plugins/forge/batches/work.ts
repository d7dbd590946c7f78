import { CallBudget, inTurns } from '#kit'
import type { Making } from './attempt.ts'
import { type Made, makeItem } from './make-item.ts'
import type { BatchRow, ItemRow } from './rows.ts'
import type { BatchStore } from './store.ts'
import type { BatchTexts } from './texts.ts'

/** What batches are made with. */
export interface Means extends Pick<Making, 'call' | 'runs' | 'ends'> {
  readonly store: BatchStore
  readonly texts: BatchTexts
  readonly mostAtOnce: number
}

/** Makes the items of a batch that have not ended. Rejects as `makeItem` does. */
export async function workOff(
  { store, texts, mostAtOnce, ...means }: Means,
  batch: BatchRow,
  signal: AbortSignal,
): Promise<void> {
  const budget = new CallBudget(batch.max_cost_nano ?? Number.POSITIVE_INFINITY, batch.cost_nano)
  const making: Making = { ...means, batch, budget, signal }

  const made = async (item: ItemRow): Promise<Made> => {
    const input = await texts.read(item, 'input')
    return input
      ? makeItem(making, item, input.value, (left) => store.items.settle(left, undefined))
      : { row: { ...item, status: 'failed', error: unreadable } }
  }
  const one = async (index: number): Promise<void> => {
    const item = await store.items.get(batch.id, index)
    if (item?.status !== 'pending') return
    const { row, response } = await made(item)
    const output = response === undefined ? undefined : await texts.write(batch, response)
    await store.items.settle(row, output)
  }
  const pending = await store.items.placesOf(batch.id, 'pending')
  await inTurns(pending, Math.min(batch.concurrency, mostAtOnce), signal, one)
}

const unreadable = { code: 'unreadable', message: 'What the item says cannot be read any more.' }
