import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Chunk } from '../../kit/canonical/chunk.ts'
import { GatewayError, notFound, providerError } from '../../kit/errors.ts'
import { callWith, entryOf } from '../../test/chain.ts'
import { runs } from '../../test/suite/runs.ts'
import { StreamReply, WholeReply } from '../call/reply.ts'
import { collect } from '../stream/collect.ts'
import type { Entry } from './entry.ts'
import type { Show } from './hooks.ts'
import { ClientView } from './show.ts'

const module = (id: string, show: Show, more: Partial<Entry> = {}): Entry =>
  entryOf(id, { show }, { stage: 'access', ...more })

/** Adds a word to every part of a text, and says goodbye at the end. */
const echo = (word: string): Show => ({
  body: (body) => ({
    ...body,
    choices: body.choices!.map((choice) => ({
      ...choice,
      message: { ...choice.message!, content: `${choice.message!.content}${word}` },
    })),
  }),
  stream: () => ({
    push: (chunk, out) => out.emit(chunk),
    end: (out) =>
      out.emit(Chunk.of({ choices: [{ index: 0, delta: { content: word }, finish_reason: null }] } as never)),
  }),
})

const whole = (content: string): WholeReply =>
  WholeReply.of({
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  } as never)

function streamed(parts: readonly string[]): StreamReply {
  async function* chunks() {
    for (const content of parts)
      yield [Chunk.of({ choices: [{ index: 0, delta: { content }, finish_reason: null }] } as never)]
  }
  return new StreamReply('', chunks())
}

async function textOf(view: ClientView, reply: WholeReply | StreamReply): Promise<unknown> {
  const shown = view.reply(reply, callWith())
  const body = shown.kind === 'whole' ? shown.body : await collect(shown)
  return body.choices![0]!.message!.content
}

test('the outermost module looks last, and a stream shows what the whole answer does, however it was cut', async () => {
  const view = new ClientView([module('outer', echo('!')), module('inner', echo('?'))])
  expect(await textOf(view, whole('hi'))).toBe('hi?!')
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ minLength: 1 }), { minLength: 1 }), async (parts) => {
      expect(await textOf(view, streamed(parts))).toBe(await textOf(view, whole(parts.join(''))))
    }),
    runs(100),
  )
})

test('without modules that show, an answer is the very same, and with one that shows errors alone as well', () => {
  const reply = whole('hi')
  const errors = module('errors', { error: (error) => error })
  const stream = streamed(['hi'])
  for (const entries of [[], [errors]]) {
    const view = new ClientView(entries)
    expect([view.reply(reply, callWith()), view.reply(stream, callWith())]).toEqual([reply, stream])
    expect(view.reply(stream, callWith())).toBe(stream)
    expect(view.reply(reply, callWith())).toBe(reply)
  }
})

test('an answer that a module leaves as it is keeps the bytes of the provider, and the look is a run of the module', () => {
  const reply = WholeReply.fromBytes('chat', Buffer.from('{"choices":[]}'))
  const entry = module('looks', { body: () => undefined, stream: () => undefined })
  const call = callWith()
  expect(new ClientView([entry]).reply(reply, call)).toBe(reply)
  expect([...entry.meter.hooks.keys()]).toEqual(['show'])
  expect(call.trace.timings.map(({ module, hook }) => [module, hook])).toEqual([['looks', 'show']])
})

test('modules apply to the calls that they are for', async () => {
  const view = new ClientView([
    module(
      'apart',
      {
        ...echo('!'),
        error: () => notFound('hidden'),
        headers(headers) {
          headers['x-seen'] = 'yes'
        },
      },
      { when: () => 'users' },
    ),
  ])
  expect(await textOf(view, whole('hi'))).toBe('hi')
  const error = providerError('openai is down')
  expect(view.error(error, callWith())).toBe(error)
  expect(view.error(error, undefined)).toBe(error)
  expect(view.headers({ 'x-id': '1' }, callWith())).toEqual({ 'x-id': '1' })
})

const broken = (): never => {
  throw new Error('secret of openai')
}

describe.each(['open', 'closed'] as const)('a module that fails and is %s', (failure) => {
  const isOpen = failure === 'open'
  const view = new ClientView([
    module(
      'broken',
      { body: broken, stream: () => ({ push: broken }), error: broken, headers: broken },
      { failure },
    ),
  ])

  test('leaves an answer as it is, or refuses it', async () => {
    const shown = textOf(view, whole('hi'))
    if (isOpen) expect(await shown).toBe('hi')
    else await expect(shown).rejects.toMatchObject({ module: 'broken', status: 500 })
    const parts = textOf(view, streamed(['h', 'i']))
    if (isOpen) expect(await parts).toBe('hi')
    else await expect(parts).rejects.toMatchObject({ module: 'broken', status: 500 })
  })

  test('leaves an error as it is, or hides it', () => {
    const error = providerError('openai is down')
    for (const call of [callWith(), undefined]) {
      const shown = view.error(error, call)
      expect(shown.message).toBe(
        isOpen ? error.message : 'The module broken failed, and its policy is to refuse calls.',
      )
    }
  })

  test('leaves the headers as they are, or takes away all that HTTP can do without', () => {
    const headers = { 'content-type': 'application/json', 'content-length': 2, 'x-provider': 'openai' }
    const { 'x-provider': _, ...least } = headers
    expect(view.headers(headers, callWith())).toEqual(isOpen ? headers : least)
  })
})

test.each([undefined, null, 7, new Error('plain')])(
  'an error that is none of the gateway’s is a failure: %j',
  (made) => {
    const entry = module('odd', { error: () => made as never }, { failure: 'open' })
    const error = providerError('openai is down')
    expect(new ClientView([entry]).error(error, callWith())).toBe(error)
    expect(entry.meter.errors).toBe(1)
  },
)

test('headers change as a module says, in lower case and in one line, but for those that HTTP stands on', () => {
  const view = new ClientView([
    module('headers', {
      headers(headers) {
        headers['X-Brand'] = 'a\r\nset-cookie: b'
        headers['content-length'] = 5
        delete headers['content-type']
        delete headers['x-provider']
      },
    }),
  ])
  const before = { 'content-type': 'text/plain', 'content-length': 2, 'x-provider': 'openai', 'x-id': '1' }
  expect(view.headers(before, undefined)).toEqual({
    'x-id': '1',
    'content-type': 'text/plain',
    'content-length': 2,
    'x-brand': 'aset-cookie: b',
  })
  expect(before['x-provider']).toBe('openai')
})

test('a name that is no header is a failure of the module', () => {
  const entry = module(
    'odd',
    {
      headers(headers) {
        headers['not a name'] = 'x'
      },
    },
    { failure: 'open' },
  )
  expect(new ClientView([entry]).headers({ 'content-type': 'text/plain' }, undefined)).toEqual({
    'content-type': 'text/plain',
  })
  expect(entry.meter.errors).toBe(1)
})

test('a refusal of a module is the answer', () => {
  const refuses = module('refuses', {
    body: () => {
      throw new GatewayError('forbidden', 'not for you')
    },
    stream: () => undefined,
  })
  expect(() => new ClientView([refuses]).reply(whole('hi'), callWith())).toThrow('not for you')
})

test('a failure is told as one of this hook, wherever in it it was', async () => {
  const shows: [Show, number][] = [
    [{ body: broken, stream: () => undefined }, 1],
    [{ stream: broken }, 1],
    [{ stream: () => ({ push: broken }) }, 1],
    [{ error: broken }, 1],
    [{ headers: broken }, 1],
  ]
  for (const [show, failures] of shows) {
    const entry = module('broken', show, { failure: 'open' })
    const view = new ClientView([entry])
    expect(await textOf(view, whole('hi'))).toBe('hi')
    expect(await textOf(view, streamed(['h', 'i']))).toBe('hi')
    view.error(providerError('openai is down'), callWith())
    view.headers({ 'x-id': '1' }, callWith())
    expect(entry.meter.events.map(({ detail }) => detail)).toEqual(Array(failures).fill('show: Error'))
  }
  const closed = new ClientView([module('broken', { stream: broken }, { failure: 'closed' })])
  await expect(textOf(closed, streamed(['hi']))).rejects.toMatchObject({ module: 'broken', status: 500 })
})

test.each(['open', 'closed'] as const)(
  'a module that is left out and %s is not asked, and hides what it should have seen where that is its policy',
  (failure) => {
    let asked = 0
    const entry = module(
      'left out',
      {
        error(error) {
          asked += 1
          return error
        },
        headers() {
          asked += 1
        },
      },
      { failure },
    )
    entry.meter.circuit.trip('a reason')
    const view = new ClientView([entry])
    const error = providerError('openai is down')
    const headers = { 'content-type': 'text/plain', 'x-provider': 'openai' }
    for (const call of [callWith(), undefined]) {
      if (failure === 'open') {
        expect(view.error(error, call)).toBe(error)
        expect(view.headers(headers, call)).toEqual(headers)
      } else {
        expect(view.error(error, call)).toMatchObject({ type: 'module_tripped', module: 'left out' })
        expect(view.headers(headers, call)).toEqual({ 'content-type': 'text/plain' })
      }
    }
    expect(asked).toBe(0)
  },
)
