import { expect, test } from 'vitest'
import type { Call } from '../../kernel/call/call.ts'
import { type Reply, StreamReply, WholeReply } from '../../kernel/call/reply.ts'
import { callWith } from '../../test/chain.ts'
import { Race } from './race.ts'

/** A race whose tries answer when the test says so, in the order in which they were begun. */
function held() {
  const call = callWith({})
  const tries: { call: Call; answer: PromiseWithResolvers<Reply> }[] = []
  const race = new Race(call, (call) => {
    const answer = Promise.withResolvers<Reply>()
    tries.push({ call, answer })
    return answer.promise
  })
  for (let n = 0; n < 3; n += 1) race.begin(call)
  return { call, race, tries }
}

test('the first answer is taken, and the others end with it', async () => {
  const { race, tries } = held()
  const reply = WholeReply.of({ choices: [] })
  tries[1]!.answer.resolve(reply)
  expect(await race.answer).toBe(reply)
  expect(tries.map(({ call }) => call.cancel.aborted)).toEqual([true, false, true])
  tries[0]!.answer.reject(tries[0]!.call.cancel.reason)
})

test('a failure is not the end while another try is under way; then it is that of the first', async () => {
  const { race, tries } = held()
  for (const n of [2, 0]) tries[n]!.answer.reject(new Error(`failure ${n}`))
  await Promise.resolve()
  expect(race.isOver).toBe(false)
  tries[1]!.answer.reject(new Error('failure 1'))
  await expect(race.answer).rejects.toThrow('failure 0')
})

test('what is begun after the end is not made', async () => {
  const { call, race, tries } = held()
  tries[0]!.answer.resolve(WholeReply.of({ choices: [] }))
  await race.answer
  race.begin(call)
  expect(tries).toHaveLength(3)
})

test('a stream that comes too late is left, which cleans up behind it', async () => {
  const { race, tries } = held()
  const left = Promise.withResolvers<void>()
  async function* late() {
    try {
      for (;;) yield []
    } finally {
      left.resolve()
    }
  }
  tries[0]!.answer.resolve(WholeReply.of({ choices: [] }))
  await race.answer
  tries[1]!.answer.resolve(new StreamReply('', late()))
  await left.promise
})

test('the end of the call ends all tries', async () => {
  const { call, race, tries } = held()
  for (const { call, answer } of tries) call.cancel.onAbort(answer.reject)
  call.cancel.abort(new Error('the client has left'))
  await expect(race.answer).rejects.toThrow('the client has left')
})
