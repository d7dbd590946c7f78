import { afterEach, expect, test, vi } from 'vitest'
import type { Attempt } from '../kernel/call/attempt.ts'
import type { Call } from '../kernel/call/call.ts'
import type { Outcome } from '../kernel/call/outcome.ts'
import { type Reply, StreamReply, WholeReply } from '../kernel/call/reply.ts'
import { Chain } from '../kernel/chain/chain.ts'
import type { Hooks, Next } from '../kernel/chain/hooks.ts'
import { Meter } from '../kernel/chain/meter.ts'
import { Instance } from '../kernel/plugin/instance.ts'
import { token } from '../kernel/token.ts'
import { Chunk } from '../kit/canonical/chunk.ts'
import { toChunks } from '../kit/canonical/chunks.ts'
import type { Completion } from '../kit/canonical/forms.ts'
import { contentBlocked, forbidden, UpstreamError } from '../kit/errors.ts'
import { callWith, entryOf, oneByOne } from '../test/chain.ts'
import { inShadow, refuseShadow } from './hooks.ts'

const callOf = (stream = false): Call => callWith({ messages: [{ role: 'user', content: 'hello' }], stream })

const answer: Completion = {
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'an answer' }, finish_reason: 'stop' }],
}

const chunks = toChunks(answer, 1)

const provider = (asked: Call[] = []): Next => {
  return async (call) => {
    asked.push(call)
    return call.stream ? new StreamReply('chat', oneByOne(chunks)) : WholeReply.fromBytes('chat', bytes)
  }
}

const bytes = Buffer.from(JSON.stringify(answer))

/** Runs a module in shadow on a call, to its end; what came of it, and what the module would have done. */
async function shadow(hooks: Hooks, { stream = false, next }: { stream?: boolean; next?: Next } = {}) {
  const asked: Call[] = []
  const call = callOf(stream)
  const meter = new Meter()
  const chain = new Chain([inShadow(entryOf('m', hooks, { meter }))], next ?? provider(asked))
  let error: unknown
  let reply: Reply | undefined
  let came: Chunk[] = []
  try {
    reply = await chain.run(call)
    if (reply.kind === 'stream') for await (const batch of reply.chunks) came = [...came, ...batch]
  } catch (thrown) {
    error = thrown
  }
  await chain.settled({ ending: 'ok' } as Outcome, call)
  return { call, reply, came, error, asked, meter, notes: call.trace.notes }
}

/** Every kind of change to a call that a module can make. */
const meddler: Hooks = {
  request(call) {
    call.trace.header('x-meddler', 'was here')
    call.trace.facts.meddler = true
    return call.withRequest({ model: 'other' }).with({ timeouts: { idleMs: 1 } })
  },
  around: (call, next) => next(call.withRequest({ n: 3 })),
  attempt: (_attempt, _call, headers) => {
    headers.x = 'y'
  },
  reply: (body) => ({ ...body, choices: [] }),
  stream: () => ({ push: () => {}, end: (out) => out.finish('length') }),
}

test('a call is made as if the module were not there, and what it would have changed is told', async () => {
  const { call, reply, asked, notes } = await shadow(meddler)
  expect(asked[0]!.request).toEqual(callOf().request)
  expect(asked[0]!.timeouts).toEqual({})
  expect((reply as WholeReply).raw).toBe(bytes)
  expect(call.trace).toMatchObject({ headers: {}, facts: {}, rewrites: [], shadows: ['m'] })
  expect(notes).toEqual(
    expect.arrayContaining([
      { module: 'm', verdict: 'changed', detail: { of: 'request', paths: ['model'] }, mode: 'shadow' },
      { module: 'm', verdict: 'changed', detail: { of: 'request', paths: ['n'] }, mode: 'shadow' },
      { module: 'm', verdict: 'changed', detail: { of: 'reply', paths: ['choices'] }, mode: 'shadow' },
      { module: 'm', verdict: 'headers', detail: { names: ['x-meddler'] }, mode: 'shadow' },
    ]),
  )
})

test('a stream passes as the very same chunks, and the module reads them', async () => {
  const seen: Chunk[] = []
  const { came, notes } = await shadow(
    {
      stream: () => ({
        push: (chunk, out) => {
          seen.push(chunk)
          out.emit(chunk)
        },
      }),
    },
    { stream: true },
  )
  expect(came).toEqual(chunks)
  expect(came.every((chunk, i) => chunk === chunks[i])).toBe(true)
  expect(seen).toEqual(chunks)
  expect(notes).toEqual([])
})

test('what a module would have done to a stream is told', async () => {
  const { came, notes } = await shadow(meddler, { stream: true })
  expect(came).toHaveLength(chunks.length)
  expect(notes.filter(({ detail }) => detail?.of === 'reply')).toHaveLength(1)
})

test('a stream that a module would have held back is not held back', async () => {
  const { came, notes } = await shadow(
    { reply: () => ({ ...answer, model: 'x' }), stream: 'buffer' },
    { stream: true },
  )
  expect(came.every((chunk, i) => chunk === chunks[i])).toBe(true)
  expect(notes).toMatchObject([{ verdict: 'changed', detail: { of: 'reply' } }])
})

test.each<[string, Hooks]>([
  [
    'request',
    {
      request() {
        throw forbidden('no')
      },
    },
  ],
  ['request, later', { request: () => Promise.reject(forbidden('no')) }],
  [
    'around',
    {
      around: () => {
        throw forbidden('no')
      },
    },
  ],
  [
    'reply',
    {
      stream: 'buffer',
      reply() {
        throw forbidden('no')
      },
    },
  ],
  [
    'detect',
    {
      detect: {
        request: {
          reach: 5,
          scan: (text) => (text === 'hello' ? [{ start: 0, end: 5, label: 'word', action: 'block' }] : []),
        },
      },
    },
  ],
])('a refusal in %s is told, and refuses nothing', async (_, hooks) => {
  const { error, reply, notes, meter } = await shadow(hooks)
  expect(error).toBeUndefined()
  expect((reply as WholeReply).raw).toBe(bytes)
  expect(notes).toContainEqual(expect.objectContaining({ module: 'm', verdict: 'refused', mode: 'shadow' }))
  expect(meter.refusals).toBeGreaterThan(0)
})

test('a try at a provider is neither refused nor given headers', async () => {
  const call = callOf()
  const chain = new Chain([inShadow(entryOf('m', meddler)), inShadow(entryOf('no', refusing))], provider())
  const headers: Record<string, string> = {}
  await chain.attempt({ n: 1, provider: 'p', model: 'm' } as Attempt, call, headers)
  await chain.settled({ ending: 'ok' } as Outcome, call)
  expect(headers).toEqual({})
  expect(call.trace.notes).toMatchObject([
    { module: 'm', verdict: 'changed', detail: { of: 'headers', paths: ['x'] } },
    { module: 'no', verdict: 'refused', detail: { status: 403 } },
  ])
})

const refusing: Hooks = {
  attempt() {
    throw forbidden('no')
  },
}

test('a refusal in the middle of a stream ends nothing', async () => {
  const hooks: Hooks = { stream: () => ({ push: (_, out) => out.fail(contentBlocked('no')) }) }
  const { came, error, notes } = await shadow(hooks, { stream: true })
  expect(error).toBeUndefined()
  expect(came).toHaveLength(chunks.length)
  expect(notes).toMatchObject([{ verdict: 'refused', detail: { code: 'bad_request' } }])
})

test('a module that fails, also one that refuses calls when it does, harms nothing and is metered', async () => {
  const bug = (): never => {
    throw new Error('bug')
  }
  const { error, notes, meter } = await shadow({ request: bug, around: bug, settled: bug })
  expect(error).toBeUndefined()
  expect(notes.every(({ verdict, mode }) => verdict === 'failed' && mode === 'shadow')).toBe(true)
  expect(notes.map(({ detail }) => detail?.hook)).toEqual(['request', 'around'])
  expect(meter.errors).toBe(3)
})

test('an answer of its own is told and not given', async () => {
  const { asked, notes, reply } = await shadow({ around: async () => WholeReply.of({ choices: [] }) })
  expect(asked).toHaveLength(1)
  expect((reply as WholeReply).raw).toBe(bytes)
  expect(notes).toEqual([{ module: 'm', verdict: 'answered', mode: 'shadow' }])
})

test('the provider is asked once, however often a module would ask; its error is the error', async () => {
  let asked = 0
  const failure = new UpstreamError('provider_error', 'down', {
    provider: 'p',
    model: 'm',
    fault: 'network',
    retryable: true,
  })
  const retry: Hooks = {
    around: async (call, next) => {
      for (let n = 0; n < 3; n += 1) {
        try {
          return await next(call)
        } catch (error) {
          if (error !== failure) throw error
        }
      }
      throw failure
    },
  }
  const next: Next = async () => {
    asked += 1
    throw failure
  }
  const { error, notes } = await shadow(retry, { next })
  expect(asked).toBe(1)
  expect(error).toBe(failure)
  expect(notes).toEqual([{ module: 'm', verdict: 'called_again', mode: 'shadow' }])
})

test('the attempts of a call can be read, and nothing is written on them', async () => {
  const next: Next = async (call) => {
    call.trace.attempts.push({ n: 1, provider: 'p', reasonNext: undefined } as Attempt)
    return provider()(call)
  }
  const read: unknown[] = []
  const { call } = await shadow(
    {
      around: async (call, next) => {
        const reply = await next(call)
        for (const attempt of call.trace.attempts) {
          read.push(attempt.provider)
          attempt.reasonNext = 'to see'
        }
        return reply
      },
    },
    { next },
  )
  expect(read).toEqual(['p'])
  expect(call.trace.attempts[0]!.reasonNext).toBeUndefined()
})

test('a call that the module would have ended goes on', async () => {
  const { error, call, notes } = await shadow({
    request(call) {
      call.cancel.abort(forbidden('too long'))
      return undefined
    },
  })
  expect(error).toBeUndefined()
  expect(call.cancel.aborted).toBe(false)
  expect(notes).toMatchObject([{ verdict: 'ended', detail: { status: 403 } }])
})

test('nobody waits for a module that takes its time', async () => {
  let done = false
  const call = callOf()
  const slow = entryOf('slow', {
    async request() {
      await new Promise((resolve) => setTimeout(resolve, 50))
      done = true
      return undefined
    },
  })
  const chain = new Chain([inShadow(slow)], provider())
  await chain.run(call)
  expect(done).toBe(false)
  await chain.settled({ ending: 'ok' } as Outcome, call)
  expect(done).toBe(true)
})

test('what a module keeps for a call is the same in all its hooks', async () => {
  const slot = Symbol('slot')
  const told: unknown[] = []
  await shadow({
    request(call) {
      call.trace.slot(slot, () => ({ n: 1 })).n = 7
      return undefined
    },
    settled: (_, call) => void told.push(call.trace.slot(slot, () => ({ n: 0 }))),
  })
  expect(told).toEqual([{ n: 7 }])
})

test('an answer that stays as it is, whole or streamed, is no change, and one with other chunks is', async () => {
  const copy: Hooks = { reply: (body) => structuredClone(body), stream: 'buffer' }
  for (const stream of [false, true]) expect((await shadow(copy, { stream })).notes).toEqual([])
  const dropping: Hooks = {
    stream: () => ({
      push(chunk, out) {
        if (chunk.data.choices[0]?.delta?.content !== 'a') out.emit(chunk)
      },
    }),
  }
  const adding: Hooks = {
    stream: () => ({ push: (chunk, out) => out.emit(chunk), end: (out) => out.emit(chunks[1]!) }),
  }
  const instead: Hooks = {
    stream: () => ({
      push(chunk, out) {
        const [choice] = chunk.data.choices
        out.emit(
          choice?.delta?.content
            ? Chunk.of({ ...chunk.data, choices: [{ index: 0, delta: { content: 'z' } }] })
            : chunk,
        )
      },
    }),
  }
  const cutting: Hooks = {
    async around(call, next) {
      const reply = await next(call)
      if (reply.kind === 'whole') return reply
      async function* first(source: AsyncIterable<readonly Chunk[]>) {
        for await (const batch of source) {
          yield batch
          return
        }
      }
      return reply.through(first(reply.chunks))
    },
  }
  for (const hooks of [dropping, adding, instead, cutting]) {
    const { notes } = await shadow(hooks, { stream: true })
    expect(notes).toMatchObject([
      {
        verdict: 'changed',
        detail: { of: 'reply', paths: expect.arrayContaining([expect.stringMatching(/^choices/)]) },
      },
    ])
  }
})

test('what an around makes of the answer is told where it differs, and an answer passed on is not', async () => {
  const other: Hooks = {
    async around(call, next) {
      await next(call)
      return WholeReply.of({ ...answer, model: 'other' })
    },
  }
  for (const stream of [false, true])
    expect((await shadow(other, { stream })).notes).toMatchObject([
      { verdict: 'changed', detail: { of: 'reply', paths: ['model'] } },
    ])
  const passing: Hooks = { around: (call, next) => next(call) }
  for (const stream of [false, true]) expect((await shadow(passing, { stream })).notes).toEqual([])
})

test('a failure over the answer is the failure of its hook, and decisions and answers of requests are told', async () => {
  const { notes, meter } = await shadow({
    request(call) {
      call.trace.decide({ kind: 'way', chosen: 'this', reason: 'it is there' })
      return WholeReply.of(answer)
    },
    reply() {
      throw new Error('bug')
    },
    stream: 'buffer',
  })
  expect(notes).toEqual([
    { module: 'm', verdict: 'answered', mode: 'shadow' },
    { module: 'm', verdict: 'failed', detail: { hook: 'reply' }, mode: 'shadow' },
    { module: 'm', verdict: 'decided', detail: { kind: 'way', chosen: 'this' }, mode: 'shadow' },
  ])
  expect(meter.events.map(({ detail }) => detail)).toEqual(['reply: Error'])
})

test("a stream that its reader leaves is nobody's failure", async () => {
  const call = callOf(true)
  const meter = new Meter()
  const reading: Hooks = {
    around: async (made, next) => {
      const reply = await next(made)
      if (reply.kind === 'stream') for await (const _ of reply.chunks);
      return reply
    },
    stream: () => ({ push: (chunk, out) => out.emit(chunk) }),
  }
  const chain = new Chain([inShadow(entryOf('m', reading, { meter }))], provider())
  const reply = await chain.run(call)
  if (reply.kind === 'stream') for await (const _ of reply.chunks) break
  await chain.settled({ ending: 'client_abort' } as Outcome, call)
  expect([meter.errors, meter.refusals]).toEqual([0, 0])
  expect(call.trace.notes.filter(({ verdict }) => verdict === 'failed')).toEqual([])
})

test('later hooks of a module wait for its request hook, and see what that kept', async () => {
  const order: string[] = []
  const { notes } = await shadow({
    async request() {
      await new Promise((resolve) => setTimeout(resolve, 5))
      order.push('request')
      return undefined
    },
    async around(call, next) {
      order.push('around')
      return next(call)
    },
    settled: () => void order.push('settled'),
  })
  expect(order).toEqual(['request', 'around', 'settled'])
  expect(notes).toEqual([])
})

test('what offers more than hooks cannot run in shadow, and is told what that is', () => {
  const instance = new Instance('m')
  expect(() => refuseShadow(instance)).not.toThrow()
  instance.services.set(token('things'), {})
  instance.wires.push({ path: '/v9/things' } as never)
  instance.protocols.push({ id: 'odd' } as never)
  expect(() => refuseShadow(instance)).toThrow(
    expect.objectContaining({
      status: 409,
      param: 'mode',
      message: expect.stringContaining(
        'the service switchyard:things, the path /v9/things, the protocol odd',
      ),
    }),
  )
})

afterEach(() => {
  vi.useRealTimers()
})

test('a module sees of a call what is known of it by then, and its part of the call is over with the call', async () => {
  const known = { cached: { kind: 'exact' }, firstContentAt: 7, body: () => answer }
  let seen: Call | undefined
  const next: Next = async (call) => {
    Object.assign(call.trace, known)
    call.trace.mayRecord(call.request)
    return WholeReply.fromBytes('chat', bytes)
  }
  const hooks: Hooks = {
    settled(_, made) {
      seen = made
    },
  }
  const { call } = await shadow(hooks, { next })
  expect(seen!.trace).toMatchObject({ ...known, request: call.trace.request })
  expect(call.trace.request).toBeDefined()
  expect(seen!.cancel.aborted).toBe(true)
  expect(call.cancel.aborted).toBe(false)
})

test('a call that ends by itself is no call that the module would have ended', async () => {
  const call = callOf()
  const chain = new Chain([inShadow(entryOf('m', { request: () => undefined }))], provider())
  await chain.run(call)
  call.cancel.abort(new Error('the client has left'))
  await chain.settled({ ending: 'client_abort' } as Outcome, call)
  expect(call.trace.notes).toEqual([])
})

test('what a module finds is told as found in shadow, and what it refuses counts once', async () => {
  const word = (action: 'note' | 'block'): Hooks => ({
    detect: {
      request: {
        reach: 5,
        scan: (text) => (text === 'hello' ? [{ start: 0, end: 5, label: 'word', action }] : []),
      },
    },
  })
  const noted = await shadow(word('note'))
  expect(noted.call.trace.findings).toMatchObject([{ module: 'm', label: 'word', mode: 'shadow' }])
  const blocked = await shadow(word('block'))
  expect(blocked.meter.refusals).toBe(1)
  expect(blocked.notes.filter(({ verdict }) => verdict === 'refused')).toHaveLength(1)
})

test('the end of a call does not wait for ever for a module, and says that it was not done', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const call = callOf()
  const stuck = entryOf('m', { attempt: () => new Promise<void>(() => {}) })
  const chain = new Chain([inShadow(stuck)], provider())
  await chain.attempt({ n: 1, provider: 'p', model: 'm' } as Attempt, call, {})
  const settled = chain.settled({ ending: 'ok' } as Outcome, call)
  await vi.advanceTimersByTimeAsync(5_000)
  await settled
  expect(call.trace.notes).toEqual([{ module: 'm', verdict: 'unfinished', mode: 'shadow' }])
})

test('only the request hook makes later ones wait', async () => {
  const call = callOf()
  const gate = Promise.withResolvers<void>()
  const order: string[] = []
  const chain = new Chain(
    [
      inShadow(
        entryOf('m', {
          async attempt() {
            await gate.promise
            order.push('attempt')
          },
          attempted: () => void order.push('attempted'),
        }),
      ),
    ],
    provider(),
  )
  const attempt = { n: 1, provider: 'p', model: 'm' } as Attempt
  await chain.attempt(attempt, call, {})
  await chain.attempted(attempt, call)
  expect(order).toEqual(['attempted'])
  gate.resolve()
  await chain.settled({ ending: 'ok' } as Outcome, call)
  expect(order).toEqual(['attempted', 'attempt'])
})

test('a stream that its reader leaves is not read to its end by the module, which would change it there', async () => {
  const call = callOf(true)
  const adding: Hooks = {
    stream: () => ({ push: (chunk, out) => out.emit(chunk), end: (out) => out.emit(chunks[1]!) }),
  }
  const chain = new Chain([inShadow(entryOf('m', adding))], provider())
  const reply = await chain.run(call)
  if (reply.kind === 'stream') for await (const _ of reply.chunks) break
  await chain.settled({ ending: 'client_abort' } as Outcome, call)
  expect(call.trace.notes).toEqual([])
})

test('a module without hooks is not in shadow of anything', () => {
  expect(inShadow(entryOf('idle', {})).hooks).toEqual({})
})
