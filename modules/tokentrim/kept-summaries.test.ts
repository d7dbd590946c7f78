import { expect, test } from 'vitest'
import type { OnceContext, PersonalData } from '#kernel'
import { KeptSummaries } from './kept-summaries.ts'

/** As with one thread. */
function summaries() {
  let personal: PersonalData | undefined
  const parts: Pick<OnceContext, 'askFirstThread' | 'inFirstThread' | 'personal'> = {
    askFirstThread: (_, answer) => (data) => answer(data, 1),
    inFirstThread: (_, run) => run,
    personal: (data) => {
      personal = data
    },
  }
  const kept = new KeptSummaries(parts)
  return { kept, personal: personal! }
}

test('the summary that was not used for longest goes when there are many', () => {
  const { kept } = summaries()
  const put = (n: number) => kept.put({ key: `${n}`, user: undefined, text: 'short' })
  for (let n = 0; n < 500; n += 1) put(n)
  expect(kept.get('0')).toBe('short')
  put(500)
  expect(['0', '1', '500'].map((key) => kept.get(key))).toEqual(['short', undefined, 'short'])
})

test('long summaries leave room for fewer', async () => {
  const { kept } = summaries()
  const text = 'x'.repeat(1_500_000)
  for (const key of ['a', 'b', 'b', 'c']) kept.put({ key, user: undefined, text })
  const lengths = ['a', 'b', 'c'].map(async (key) => (await kept.get(key))?.length)
  expect(await Promise.all(lengths)).toEqual([undefined, text.length, text.length])
})

test('the summaries of a user are erased with the data of that user, and no others', async () => {
  const { kept, personal } = summaries()
  const users = ['ada', 'bob', 'ada', undefined]
  for (const [n, user] of users.entries()) kept.put({ key: `${n}`, user, text: 'short' })
  const ada = { kind: 'user', id: 'ada' } as const
  expect([await personal.count(ada), await personal.erase(ada), await personal.count(ada)]).toEqual([2, 2, 0])
  expect(users.map((_, n) => kept.get(`${n}`))).toEqual([undefined, 'short', undefined, 'short'])
})
