import { setImmediate as aTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Chunk } from '../../kit/canonical/chunk.ts'
import { toChunks } from '../../kit/canonical/chunks.ts'
import { callWith } from '../../test/chain.ts'
import { type StreamReply, WholeReply } from '../call/reply.ts'
import { collect, replyWith } from './collect.ts'

const message = { role: 'assistant', content: 'one two', refusal: null } as const
const body = {
  id: 'c1',
  object: 'chat.completion',
  model: 'm',
  created: 1,
  choices: [{ index: 0, message, finish_reason: 'stop' }],
} as const

test('an answer is whole or streamed as the call asked, and says the same', async () => {
  const whole = replyWith(callWith(), body)
  const streamed = replyWith(callWith({ stream: true }), body)
  expect([whole.kind, streamed.kind]).toEqual([WholeReply.of(body).kind, 'stream'])
  expect(await collect(whole)).toBe(body)
  expect(await collect(streamed)).toMatchObject({
    id: 'c1',
    choices: [{ index: 0, message: { role: 'assistant', content: 'one two' }, finish_reason: 'stop' }],
  })
})

test('a stream of an answer comes chunk by chunk', async () => {
  const batches: number[] = []
  const { chunks } = replyWith(callWith({ stream: true }), body) as StreamReply
  for await (const batch of chunks) batches.push(batch.length)
  expect(batches).toEqual(toChunks(body).map(() => 1))
})

test('a long one takes turns and comes in parts that say the same', async () => {
  const content = 'word '.repeat(200_000)
  const long = { ...body, choices: [{ ...body.choices[0], message: { ...message, content } }] }
  let turns = 0
  let isOver = false
  const counted = (async () => {
    for (; !isOver; turns += 1) await aTurn()
  })()
  const { chunks } = replyWith(callWith({ stream: true }), long) as StreamReply
  const batches: number[] = []
  const given: Chunk[] = []
  for await (const batch of chunks) {
    batches.push(batch.length)
    given.push(...batch)
    const until = performance.now() + 1
    while (performance.now() < until);
  }
  isOver = true
  await counted
  expect(given.map(({ data }) => data)).toEqual(toChunks(long).map(({ data }) => data))
  expect(Math.max(...batches)).toBe(64)
  expect(turns).toBeGreaterThanOrEqual(10)
})
