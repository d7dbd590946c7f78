import { describe, expect, test } from 'vitest'
import { toChunks } from '../../kit/canonical/chunks.ts'
import type { Completion } from '../../kit/canonical/forms.ts'
import { badRequest, type GatewayError, UpstreamError } from '../../kit/errors.ts'
import { callWith, entryOf, oneByOne } from '../../test/chain.ts'
import { detectionOf } from '../../test/detection.ts'
import type { Attempt } from '../call/attempt.ts'
import type { Call } from '../call/call.ts'
import type { Outcome } from '../call/outcome.ts'
import { type Reply, StreamReply, WholeReply } from '../call/reply.ts'
import type { Detection } from '../detect/detect.ts'
import { collect } from '../stream/collect.ts'
import { Chain } from './chain.ts'
import type { Entry } from './entry.ts'
import type { Hooks, Visit } from './hooks.ts'

const callOf = (stream = false): Call => callWith({ messages: [{ role: 'user', content: 'hello' }], stream })

const answer = (content: string): Completion => ({
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
})

/** Answers with what it was asked, streamed when asked so. */
const echo = async (call: Call): Promise<Reply> => {
  const body = answer(`echo ${String(call.request.messages?.[0]?.content)}`)
  return call.stream ? new StreamReply('', oneByOne(toChunks(body, 1))) : WholeReply.of(body)
}

const textOf = async (reply: Reply): Promise<unknown> => (await collect(reply)).choices?.[0]?.message?.content

const say = (call: Call, content: string): Call => call.withRequest({ messages: [{ role: 'user', content }] })
const append = (what: string): Hooks => ({
  request: (call) => say(call, `${call.request.messages?.[0]?.content}${what}`),
})
const suffix = (what: string): Hooks => ({
  reply: (body) => answer(`${body.choices?.[0]?.message?.content}${what}`),
  stream: 'buffer',
})

describe.each([false, true])('stream: %s', (stream) => {
  test('requests run down in order, answers back up', async () => {
    const chain = new Chain(
      [entryOf('a', { ...append('a'), ...suffix('A') }), entryOf('b', { ...append('b'), ...suffix('B') })],
      echo,
    )
    expect(await textOf(await chain.run(callOf(stream)))).toBe('echo helloabBA')
  })

  test('guards of both stages see what a detection that cleans leaves, wherever it stands itself', async () => {
    const found = (pattern: RegExp, replacement: string) =>
      detectionOf([{ pattern, replacement }], { reach: 4 })
    const cleaning = { ...found(/_/, ''), cleans: true }
    const asked: string[] = []
    const unmet: Entry['when'] = (call) => {
      asked.push(call.id)
      return 'users'
    }
    const entries = (when?: Entry['when']) => [
      entryOf('cleaner', { detect: { reply: cleaning } }, { when }),
      entryOf('near', { detect: { reply: found(/abc/, '_1') } }),
      entryOf('cache', { around: (call, next) => next(call) }, { stage: 'cache' }),
      entryOf('far', { detect: { reply: found(/xyz/, '_2') } }, { stage: 'verify' }),
    ]
    const say = (call: Call): Promise<Reply> =>
      echo(call.withRequest({ messages: [{ role: 'user', content: 'a_bc x_yz _' }] }))
    expect(await textOf(await new Chain(entries(), say).run(callOf(stream)))).toBe('echo _1 2 ')
    const left = callOf(stream)
    expect(await textOf(await new Chain(entries(unmet), say).run(left))).toBe('echo a_bc x_yz _')
    expect([asked, left.trace.skips]).toEqual([['tr_1'], [{ module: 'cleaner', condition: 'users' }]])
  })

  test('an around may call the rest never, once or many times', async () => {
    const seen: string[] = []
    const thrice = entryOf('thrice', {
      async around(call, next) {
        for (const n of ['1', '2']) seen.push(String(await textOf(await next(say(call, n)))))
        return next(say(call, '3'))
      },
    })
    const inner = entryOf('inner', append('!'))
    const chain = new Chain([thrice, inner], echo)
    expect(await textOf(await chain.run(callOf(stream)))).toBe('echo 3!')
    expect(seen).toEqual(['echo 1!', 'echo 2!'])

    const never = entryOf('never', { around: async () => WholeReply.of(answer('cached')) })
    expect(await textOf(await new Chain([never, inner], echo).run(callOf(stream)))).toBe('cached')
  })

  test('an answer given on the way down passes up through those before it only', async () => {
    const chain = new Chain(
      [
        entryOf('outer', suffix('o')),
        entryOf('answers', { request: () => WholeReply.of(answer('here')) }),
        entryOf('deeper', suffix('d')),
      ],
      echo,
    )
    expect(await textOf(await chain.run(callOf(stream)))).toBe('hereo')
  })

  test('a module that does not apply is skipped both ways', async () => {
    const chain = new Chain(
      [entryOf('a', { ...append('a'), ...suffix('A') }, { when: () => 'users' }), entryOf('b', append('b'))],
      echo,
    )
    expect(await textOf(await chain.run(callOf(stream)))).toBe('echo hellob')
  })

  test('what is revealed is not seen by the modules', async () => {
    const seen: unknown[] = []
    const tap = entryOf('tap', {
      reply: (body) => {
        seen.push(body.choices?.[0]?.message?.content)
        return undefined
      },
      stream: 'buffer',
    })
    const reveal: Detection = {
      reach: 5,
      scan: (text) =>
        [...text.matchAll(/hello/g)].map(({ index }) => ({
          start: index,
          end: index + 5,
          label: 'word',
          action: 'replace' as const,
          replacement: 'revealed',
        })),
    }
    const chain = new Chain([tap, entryOf('masker', { reveal })], echo)
    const call = callOf(stream)
    const reply = await chain.run(call)
    expect(await textOf(await chain.reveal(reply, call))).toBe('echo revealed')
    expect(seen).toEqual(['echo hello'])
  })
})

describe('a module that fails', () => {
  const broken = () => {
    throw new TypeError('a bug')
  }

  test.each(['request', 'around', 'reply'] as const)(
    'in %s lets the call pass when its policy is open',
    async (hook) => {
      const hooks = (hook === 'reply' ? { reply: broken, stream: 'buffer' } : { [hook]: broken }) as Hooks
      const bad = entryOf('bad', hooks, { failure: 'open' })
      expect(await textOf(await new Chain([bad], echo).run(callOf()))).toBe('echo hello')
      expect(bad.meter.errors).toBe(1)
    },
  )

  test.each(['request', 'around', 'reply'] as const)(
    'in %s refuses the call when its policy is closed',
    async (hook) => {
      const hooks = (hook === 'reply' ? { reply: broken, stream: 'buffer' } : { [hook]: broken }) as Hooks
      await expect(new Chain([entryOf('bad', hooks)], echo).run(callOf())).rejects.toMatchObject({
        code: 'internal_error',
        module: 'bad',
      })
    },
  )

  test('after it got an answer hands that answer on, and asks nobody twice', async () => {
    let asked = 0
    const chain = new Chain(
      [
        entryOf('bad', { around: async (call, next) => (await next(call)) && broken() }, { failure: 'open' }),
        entryOf('count', {
          request: () => {
            asked += 1
            return undefined
          },
        }),
      ],
      echo,
    )
    expect(await textOf(await chain.run(callOf()))).toBe('echo hello')
    expect(asked).toBe(1)
  })
})

test('a refusal carries the name of its module; an error from inside is nobody else’s', async () => {
  const refuses = entryOf('guard', {
    request: () => {
      throw badRequest('no')
    },
  })
  await expect(new Chain([refuses], echo).run(callOf())).rejects.toMatchObject({
    code: 'bad_request',
    module: 'guard',
  })
  expect(refuses.meter.refusals).toBe(1)

  const outage = new UpstreamError('provider_error', 'down', {
    provider: 'p',
    model: 'm',
    fault: 'network',
    retryable: true,
  })
  const passes = entryOf('passes', { around: (call, next) => next(call) })
  const chain = new Chain([passes], () => Promise.reject(outage))
  await expect(chain.run(callOf())).rejects.toBe(outage)
  expect((outage as GatewayError).module).toBeUndefined()
})

test('the request is recorded as the inspecting modules left it', async () => {
  const call = callOf()
  const refuses = entryOf(
    'late',
    {
      request: () => {
        throw badRequest('no')
      },
    },
    { stage: 'shape' },
  )
  const early = entryOf('early', append(' masked'), { stage: 'inspect' })
  await expect(new Chain([early, refuses], echo).run(call)).rejects.toThrow()
  expect(call.trace.request?.messages?.[0]?.content).toBe('hello masked')

  const before = callOf()
  await expect(new Chain([entryOf('limit', refuses.hooks), early], echo).run(before)).rejects.toThrow()
  expect(before.trace.request).toBeUndefined()
})

test('whether a module applies is decided once for a call, whatever others make of it', async () => {
  const told: string[] = []
  const settled = () => void told.push('settled')
  const applies = entryOf(
    'a',
    { request: () => undefined, settled },
    { when: (call) => (call.request.model === 'm' ? undefined : 'models') },
  )
  const renames = entryOf('b', { request: (call) => call.withRequest({ model: 'other' }) })
  const chain = new Chain([applies, renames], async (call) => {
    await chain.settled({ ending: 'ok' } as Outcome, call)
    return echo(call)
  })
  await chain.run(callOf())
  expect(told).toEqual(['settled'])
})

test('a call keeps which modules it passed by, and what each of the others made of it', async () => {
  const call = callOf()
  const renames = entryOf('renames', { request: (call) => call.withRequest({ model: 'other' }) })
  const reroutes = entryOf('reroutes', { around: (call, next) => next(call.withRequest({ n: 2 })) })
  const skipped = entryOf('skipped', append('x'), { when: () => 'tags' })
  const chain = new Chain([renames, skipped, reroutes, entryOf('upper', suffix('!'))], echo)
  await chain.run(call)
  expect(call.trace.skips).toEqual([{ module: 'skipped', condition: 'tags' }])
  expect(call.trace.rewrites).toMatchObject([
    { module: 'renames', of: 'request', before: { model: 'm' }, after: { model: 'other' } },
    { module: 'reroutes', of: 'request', before: { model: 'other' }, after: { n: 2 } },
    { module: 'upper', of: 'reply' },
  ])
})

test('who wraps nothing of a call is not run, and what it does to answers stays in its place', async () => {
  const order: string[] = []
  const marks = (id: string): Hooks => ({
    reply: (body) => {
      order.push(id)
      return body
    },
    stream: 'buffer',
  })
  const wrapping = (id: string, wraps: () => boolean): Entry =>
    entryOf(
      id,
      {
        ...marks(id),
        wraps,
        around: (call, next) => {
          order.push(`around ${id}`)
          return next(call)
        },
      },
      { failure: 'open' },
    )
  const broken = wrapping('broken', () => {
    throw new Error('no idea')
  })
  const chain = new Chain(
    [
      entryOf('first', marks('first')),
      wrapping('never', () => false),
      broken,
      wrapping('always', () => true),
      entryOf('last', marks('last')),
    ],
    echo,
  )
  const call = callOf()
  expect(await textOf(await chain.run(call))).toBe('echo hello')
  expect(order).toEqual(['around always', 'last', 'always', 'broken', 'never', 'first'])
  expect(call.trace.timings.filter(({ hook }) => hook === 'around').map(({ module }) => module)).toEqual([
    'always',
  ])
  expect(broken.meter.errors).toBe(1)
  expect(broken.meter.events.map(({ detail }) => detail)).toEqual(['wraps: Error'])
})

test('the attempt that answered a call stays the one that did, whatever another brings later', async () => {
  const attempts = [1, 2].map((n) => ({ n, provider: `p${n}`, model: 'm' }) as Attempt)
  const late = Promise.withResolvers<void>()
  let asked = 0
  let loser: Promise<unknown> | undefined
  const racing = entryOf('racing', {
    async around(call, next) {
      const winner = await next(call)
      loser = next(call)
      return winner
    },
  })
  const chain = new Chain([racing], async () => {
    const attempt = attempts[asked]!
    asked += 1
    if (asked === 2) await late.promise
    return WholeReply.of(answer(attempt.provider)).by(attempt)
  })
  const call = callOf()
  await chain.run(call)
  expect(call.trace.served).toBe(attempts[0])
  late.resolve()
  await loser
  expect(asked).toBe(2)
  expect(call.trace.served).toBe(attempts[0])

  // An answer of no attempt leaves the one that was asked last.
  const asking = entryOf('asking', {
    async around(made, next) {
      await next(made)
      return WholeReply.of(answer('own'))
    },
  })
  const other = callOf()
  await new Chain([asking], async () => WholeReply.of(answer('p2')).by(attempts[1]!)).run(other)
  expect(other.trace.served).toBe(attempts[1])
})

test('who answers in the place of the provider is noted', async () => {
  const call = callOf()
  const cache = entryOf('cache', { around: async (call) => echo(call) })
  await new Chain([cache], echo).run(call)
  expect(call.trace.notes).toEqual([{ module: 'cache', verdict: 'answered' }])
})

test('everybody learns of the end, also when a neighbour fails at it', async () => {
  const told: string[] = []
  const chain = new Chain(
    [
      entryOf('bad', {
        settled: () => {
          throw new Error('bug')
        },
      }),
      entryOf('good', { settled: async () => void told.push('good') }),
    ],
    echo,
  )
  await chain.settled({ ending: 'ok' } as Outcome, callOf())
  expect(told).toEqual(['good'])
})

test('a visit is refused by whoever refuses it, and modules with a condition are not asked', () => {
  const visit: Visit = {
    ip: '10.0.0.1',
    method: 'GET',
    path: '/api/status',
    isCall: false,
    principal: undefined,
  }
  const hooks: Hooks = {
    admit: ({ ip }) => {
      throw badRequest(`not from ${ip}`)
    },
  }
  const fence = entryOf('fence', hooks)
  expect(() => new Chain([fence], echo).admit(visit)).toThrow(
    expect.objectContaining({ module: 'fence', message: 'not from 10.0.0.1' }),
  )
  expect(fence.meter.refusals).toBe(1)
  expect(() =>
    new Chain([entryOf('some', hooks, { when: () => undefined })], echo).admit(visit),
  ).not.toThrow()
})

test('a failure is told by the hook that it was in, also a later one', async () => {
  const late = entryOf('late', { request: () => Promise.reject(new Error('bug')) }, { failure: 'open' })
  const applies = (): never => {
    throw new Error('bug')
  }
  const unsure = entryOf(
    'unsure',
    { detect: { reply: { reach: 1, applies, scan: () => [] } } },
    { failure: 'open' },
  )
  expect(await textOf(await new Chain([late, unsure], echo).run(callOf()))).toBe('echo hello')
  expect([late, unsure].map(({ meter }) => meter.events.map(({ detail }) => detail))).toEqual([
    ['request: Error'],
    ['detect: Error'],
  ])
})

test('who wraps failures is run for a call that failed, and its first `next` is given that failure', async () => {
  const asked: string[] = []
  const failure = badRequest('no')
  let fails = 0
  const chain = new Chain(
    [
      entryOf('retries', {
        wraps: () => 'failures',
        async around(call, next) {
          asked.push('around')
          await expect(next(call)).rejects.toBe(failure)
          return next(call)
        },
      }),
    ],
    async (call) => {
      asked.push('provider')
      if (fails-- > 0) throw failure
      return echo(call)
    },
  )
  const call = callOf()
  expect(await textOf(await chain.run(call))).toBe('echo hello')
  expect([asked.splice(0), call.trace.timings]).toEqual([['provider'], []])
  fails = 1
  expect(await textOf(await chain.run(callOf()))).toBe('echo hello')
  expect(asked).toEqual(['provider', 'around', 'provider'])
})

test('who wraps failures may ask for something else first', async () => {
  const chain = new Chain(
    [
      entryOf('moves', {
        wraps: () => 'failures',
        around: (call, next) => next(call.withRequest({ model: 'other' })),
      }),
      entryOf('inside', { request: () => undefined }, { stage: 'deliver' }),
    ],
    async (call) => {
      if (call.request.model !== 'other') throw badRequest('no')
      return echo(call)
    },
  )
  expect(await textOf(await chain.run(callOf()))).toBe('echo hello')
})

describe("a provider's words", () => {
  const replacing: Detection = {
    reach: 6,
    scan: (text, _place, _call, from) => {
      const start = text.indexOf('secret', from)
      return start < 0 ? [] : [{ start, end: start + 6, label: 'it', action: 'replace', replacement: '-' }]
    },
  }
  const broken: Detection = {
    reach: 1,
    scan() {
      throw new Error('no')
    },
  }
  const searched = (...modules: Entry[]) => new Chain(modules, echo).search(['a secret', ''], callOf())
  const guard = (reply: Detection, more?: Partial<Entry>) => entryOf('guard', { detect: { reply } }, more)

  test('are searched as the text of an answer, and by nothing else that answers meet', async () => {
    const seen: string[] = []
    const other: Hooks = {
      reply: () => void seen.push('reply'),
      stream: 'buffer',
      detect: { request: broken, reply: replacing },
    }
    expect(await searched(entryOf('guard', other))).toEqual(['a -', ''])
    expect(await searched()).toEqual(['a secret', ''])
    expect(await searched(guard(replacing, { when: () => 'users' }))).toEqual(['a secret', ''])
    expect(seen).toEqual([])
  })

  test('go on by a guard that fails as its policy says, and by none that refuses them', async () => {
    expect(await searched(guard(broken, { failure: 'open' }), guard(replacing))).toEqual(['a -', ''])
    await expect(searched(guard(broken))).rejects.toMatchObject({ module: 'guard', status: 500 })
    const blocking: Detection = {
      ...replacing,
      scan: () => [{ start: 0, end: 1, label: 'it', action: 'block' }],
    }
    await expect(searched(guard(blocking))).rejects.toMatchObject({ type: 'content_blocked' })
  })
})
