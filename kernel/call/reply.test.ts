import { expect, test } from 'vitest'
import { CallFirstContent, CallSettled, CallStarted, type Outcome, withoutBody } from './outcome.ts'
import { StreamReply, WholeReply } from './reply.ts'

test('the events of calls have the names that webhooks know', () => {
  expect([CallStarted.name, CallFirstContent.name, CallSettled.name]).toEqual([
    'call.started',
    'call.first_content',
    'call.settled',
  ])
})

test('an outcome without its body says the rest', () => {
  const outcome = { status: 200, body: () => ({ id: 'c1' }), json: () => '{}' } as unknown as Outcome
  const { body, json, ...rest } = withoutBody(outcome)
  expect(rest).toEqual({ status: 200 })
  expect([body(), json()]).toEqual([undefined, undefined])
})

test('an answer that a module made has a body and no bytes', () => {
  const body = { id: 'c1', choices: [] }
  const reply = WholeReply.of(body)
  expect(reply.kind).toBe('whole')
  expect(reply.body).toBe(body)
  expect(reply.raw).toBeUndefined()
})

test('an answer of a provider keeps its bytes, and is read when somebody looks', () => {
  const raw = Buffer.from('{ "id": "c1" }')
  const reply = WholeReply.fromBytes('chat', raw)
  expect(reply.raw).toBe(raw)
  expect(reply.body).toEqual({ id: 'c1' })
  expect(reply.body).toBe(reply.body)
  expect(reply.json).toBe('{ "id": "c1" }')
  const meant = { id: 'other', choices: [] }
  expect(WholeReply.fromBytes('messages', raw, meant).body).toBe(meant)
  expect(WholeReply.fromBytes('messages', raw, meant).json).toBeUndefined()
  expect(() => WholeReply.fromBytes('chat', Buffer.from('{')).body).toThrow(SyntaxError)
})

test('of a sealed answer nothing can be written to, neither its bytes nor its body', () => {
  const raw = Buffer.from('{"choices":[{"index":0}]}')
  for (const look of [true, false]) {
    const reply = WholeReply.fromBytes('chat', Buffer.from(raw))
    if (look) expect(reply.body).toBeDefined()
    expect(reply.seal()).toBe(reply)
    reply.raw!.fill(0)
    expect(reply.raw).toEqual(raw)
    expect(Object.isFrozen(reply.body.choices![0])).toBe(true)
    expect(() => Object.assign(reply, { wire: 'other' })).toThrow(TypeError)
  }
  expect(WholeReply.of({ choices: [] }).seal().raw).toBeUndefined()
})

test('a streamed answer is of its wire', () => {
  async function* none() {}
  const reply = new StreamReply('chat', none())
  expect([reply.kind, reply.wire]).toEqual(['stream', 'chat'])
  const other = none()
  const through = reply.through(other)
  expect([through.wire, through.chunks]).toEqual(['chat', other])
  expect(WholeReply.of({}).wire).toBe('')
})
