import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Chunk } from '../../kit/canonical/chunk.ts'
import { noUsage } from '../../kit/canonical/usage.ts'
import { badRequest } from '../../kit/errors.ts'
import { Cancel } from '../../kit/work/cancel.ts'
import { callWith, oneByOne } from '../../test/chain.ts'
import { content } from '../../test/scanning.ts'
import type { Attempt } from '../call/attempt.ts'
import type { Call } from '../call/call.ts'
import type { Outcome } from '../call/outcome.ts'
import { type Reply, StreamReply, WholeReply } from '../call/reply.ts'
import type { Hooks, Next, Visit } from '../chain/hooks.ts'
import type { Detection, Span } from '../detect/detect.ts'
import { defineEvent, Events } from '../events.ts'
import { type Filter, filterStream } from '../stream/filter.ts'
import { readOnlyEvents, readOnlyHooks } from './read-only.ts'

const body = () => ({ choices: [{ index: 0, message: { role: 'assistant' as const, content: 'a' } }] })
const wholeOf = () => WholeReply.of(body() as never)
const chunkOf = () => Chunk.of({ choices: [{ index: 0, delta: { content: 'a' } }] })
const attemptOf = () => ({ n: 1, provider: 'p', model: 'm' }) as Attempt
const callOf = () => callWith({ messages: [{ role: 'user', content: 'a' }] })

/** Whether nothing of what is handed can be written to, neither itself nor its parts; a call may always be ended. */
function isReadOnly(handed: object): boolean {
  const parts = Object.values(handed).filter((part) => typeof part === 'object' && part !== null)
  return [handed, ...parts.filter((part) => !(part instanceof Cancel))].every(
    (part: object) => !Reflect.set(part, 'another', 1) && !Object.hasOwn(part, 'another'),
  )
}

/** What a hook was handed, each with whether it was read only. */
class Handed {
  readonly all: [value: unknown, isReadOnly: boolean][] = []

  take(...values: unknown[]): undefined {
    for (const value of values)
      this.all.push([value, typeof value !== 'object' || value === null || isReadOnly(value)])
  }

  get isReadOnly(): boolean {
    return this.all.length > 0 && this.all.every(([, is]) => is)
  }

  get values(): unknown[] {
    return this.all.map(([value]) => value)
  }
}

function handing<K extends keyof Hooks>(name: K) {
  const handed = new Handed()
  const hooks = readOnlyHooks({ [name]: (...given: unknown[]) => handed.take(...given) } as unknown as Hooks)
  return { handed, hooks: hooks as Required<Pick<Hooks, K>> }
}

test('what a module has no hook for it has none for afterwards, and its words stay', () => {
  expect(readOnlyHooks({})).toEqual({})
  expect(readOnlyHooks({ pure: true, stream: 'buffer' } as Hooks)).toEqual({ pure: true, stream: 'buffer' })
})

describe('what a hook is handed cannot be written to:', () => {
  test('at the door', () => {
    const { handed, hooks } = handing('admit')
    const visit = { ip: '127.0.0.1', path: '/', principal: { type: 'user' } } as Visit
    void hooks.admit(visit)
    expect([handed.isReadOnly, handed.values]).toEqual([true, [visit]])
  })

  test.each(['request', 'wraps', 'varies'] as const)('a call, in %s', async (name) => {
    const { handed, hooks } = handing(name)
    const call = callOf()
    await hooks[name](call)
    expect(handed.isReadOnly).toBe(true)
    expect(handed.values).toEqual([call.readOnly])
  })

  test('a try and its call, but for the headers that are to be added to', () => {
    const { hooks } = handing('attempt')
    const call = callOf()
    const headers: Record<string, string> = {}
    const seen = new Handed()
    const adding = readOnlyHooks({
      attempt(attempt, of, to) {
        seen.take(attempt, of)
        to.more = 'yes'
      },
    })
    adding.attempt!(attemptOf(), call, headers)
    hooks.attempt(attemptOf(), call, headers)
    expect([seen.isReadOnly, headers.more]).toEqual([true, 'yes'])
  })

  test('what came of a try', () => {
    const { handed, hooks } = handing('attempted')
    const attempt = attemptOf()
    hooks.attempted(attempt, callOf())
    expect(handed.isReadOnly).toBe(true)
    expect((handed.values[0] as Attempt).provider).toBe('p')
  })

  test('the end of a call, and the answer in it', async () => {
    const { handed, hooks } = handing('settled')
    const answer = body()
    const outcome = { ending: 'ok', usage: { ...noUsage }, body: () => answer } as unknown as Outcome
    await hooks.settled(outcome, callOf())
    expect(handed.isReadOnly).toBe(true)
    const told = handed.values[0] as Outcome
    expect(told).not.toBe(outcome)
    expect(told.body()).toBe(answer)
    expect(isReadOnly(told.body()!.choices![0]!)).toBe(true)
    expect(Object.isFrozen(outcome)).toBe(false)
  })

  test('an answer', async () => {
    const { handed, hooks } = handing('reply')
    await (hooks as Required<Hooks>).reply!(body() as never, callOf())
    expect(handed.isReadOnly).toBe(true)
    expect(handed.values[0]).toEqual(body())
  })

  test('what leaves for a client, but for the headers that are to be changed', async () => {
    const seen = new Handed()
    const { show } = readOnlyHooks({
      show: {
        body: (shown, call) => seen.take(shown, call),
        stream(call) {
          seen.take(call)
          return {
            push(chunk, out) {
              seen.take(chunk.data)
              out.emit(chunk)
            },
          }
        },
        error(error, call) {
          seen.take(error, call)
          return error
        },
        headers(headers, call) {
          seen.take(call)
          headers.more = 'yes'
        },
      },
    })
    const call = callOf()
    const error = badRequest('no')
    const headers: Record<string, string | number> = {}
    const chunk = chunkOf()
    expect(show!.body!(body() as never, call)).toBeUndefined()
    const filter = show!.stream!(call) as Filter
    const passed: Chunk[] = []
    for await (const batch of filterStream(oneByOne([chunk]), [filter])) passed.push(...batch)
    expect(show!.error!(error, call)).toBe(error)
    show!.error!(badRequest('no'), undefined)
    show!.headers!(headers, call)
    show!.headers!(headers, undefined)
    expect([passed, headers]).toEqual([[chunk], { more: 'yes' }])
    expect(seen.isReadOnly).toBe(true)
    expect(seen.values).toHaveLength(10)
    expect(readOnlyHooks({ show: { error: (made) => made } }).show).toEqual({ error: expect.any(Function) })
  })

  test('chunks, which pass as they are, to the end', async () => {
    const seen = new Handed()
    const ended: string[] = []
    const filtering = (end: boolean): Hooks =>
      readOnlyHooks({
        stream(call) {
          seen.take(call)
          return {
            push(chunk, out) {
              seen.take(chunk.data)
              out.emit(chunk)
            },
            ...(end && { end: () => void ended.push('end') }),
          }
        },
      })
    for (const end of [true, false]) {
      const chunk = chunkOf()
      const { stream } = filtering(end) as { stream: (call: Call) => Filter | undefined }
      const came = await Array.fromAsync(filterStream(oneByOne([chunk]), [stream(callOf())!]))
      expect(came).toEqual([[chunk]])
    }
    expect([seen.isReadOnly, ended]).toEqual([true, ['end']])
    const none = readOnlyHooks({ stream: () => undefined }) as { stream: (call: Call) => unknown }
    expect(none.stream(callOf())).toBeUndefined()
    const odd = readOnlyHooks({ stream: () => 'filter' } as never) as { stream: (call: Call) => unknown }
    expect(() => odd.stream(callOf())).toThrow('expected a filter')
  })
})

describe('a detection', () => {
  const span = (): Span => ({ start: 0, end: 1, label: 'l', action: 'note' })

  test.each(['request', 'reply', 'reveal'] as const)(
    'of %s says what it says, and writes into nothing',
    (where) => {
      const handed = new Handed()
      const full: Detection = {
        reach: 5,
        context: 7,
        verdict: 'masked',
        refusal: 'No.',
        scan(...given) {
          handed.take(...given)
          return [span()]
        },
        open(...given) {
          handed.take(...given)
          return 3
        },
        applies(...given) {
          handed.take(...given)
          return false
        },
        frame(...given) {
          handed.take(...given)
          return '[text]'
        },
        found: (...given) => handed.take(...given),
      }
      const of = (detection: Detection): Detection => {
        const hooks = readOnlyHooks(
          where === 'reveal' ? { reveal: detection } : { detect: { [where]: detection } },
        )
        return where === 'reveal' ? hooks.reveal! : hooks.detect![where]!
      }
      const { reach, context, verdict, refusal, ...shown } = of(full)
      expect({ reach, context, verdict, refusal }).toEqual({
        reach: 5,
        context: 7,
        verdict: 'masked',
        refusal: 'No.',
      })
      const call = callOf()
      expect(shown.scan('text', { ...content }, call, 2)).toEqual([span()])
      expect(shown.open!('text', call, 2)).toBe(3)
      expect(shown.applies!(call)).toBe(false)
      expect(shown.frame!('text', { ...content }, call)).toBe('[text]')
      shown.found!(span(), { ...content }, call)
      expect(handed.isReadOnly).toBe(true)
      const seen = call.readOnly
      const [scanned, opened, framed] = [
        ['text', content, seen, 2],
        ['text', seen, 2],
        ['text', content, seen],
      ]
      expect(handed.values).toEqual([...scanned, ...opened, seen, ...framed, span(), content, seen])
      expect(Object.keys(of({ reach: 1, scan: () => [] }))).toEqual(['reach', 'scan'])
    },
  )

  test('of one side is none of the other', () => {
    const detection: Detection = { reach: 1, scan: () => [] }
    expect(Object.keys(readOnlyHooks({ detect: { reply: detection } }).detect!)).toEqual(['reply'])
    expect(Object.keys(readOnlyHooks({ detect: { request: detection } }).detect!)).toEqual(['request'])
  })
})

describe('what a hook makes of a call is as the chain has it', () => {
  const asked = async (made: (call: Call) => unknown, call = callOf()): Promise<unknown> =>
    readOnlyHooks({ request: made as Hooks['request'] & {} }).request!(call)

  test.each([false, true])('later: %s', async (later) => {
    const given = (make: (call: Call) => unknown) => (later ? async (call: Call) => make(call) : make)
    const call = callOf()
    expect(
      await asked(
        given((seen) => seen),
        call,
      ),
    ).toBe(call)
    expect(
      await asked(
        given(() => undefined),
        call,
      ),
    ).toBeUndefined()
    const changed = (await asked(
      given((seen) => seen.withRequest({ user: 'u' })),
      call,
    )) as Call
    expect([changed.request.user, changed.trace === call.trace, changed.id]).toEqual(['u', true, call.id])
    const foreign = callOf()
    expect(
      await asked(
        given(() => foreign),
        call,
      ),
    ).toBe(foreign)
    const answer = wholeOf()
    expect(
      await asked(
        given(() => answer),
        call,
      ),
    ).toBe(answer)
    expect(isReadOnly(answer.body)).toBe(true)
    expect(
      await asked(
        given(() => 'nonsense'),
        call,
      ),
    ).toBe('nonsense')
  })
})

describe('an around', () => {
  const wrapped = async (around: (call: Call, next: Next) => Promise<unknown>, next: Next, call = callOf()) =>
    readOnlyHooks({ around: around as never }).around!(call, next)

  test('is handed answers that it cannot write into, and those that it gives back are the ones that came', async () => {
    const handed = new Handed()
    for (const reply of [wholeOf(), new StreamReply('', oneByOne([chunkOf()]))] as Reply[]) {
      const made = await wrapped(
        async (call, next) => {
          const shown = await next(call)
          handed.take(call)
          expect(Object.isFrozen(shown)).toBe(true)
          if (shown.kind === 'whole') handed.take(shown.body)
          return shown
        },
        async () => reply,
      )
      expect(made).toBe(reply)
    }
    expect(handed.isReadOnly).toBe(true)
  })

  test('reads chunks of a stream that it cannot write into', async () => {
    const handed = new Handed()
    await wrapped(
      async (call, next) => {
        const shown = (await next(call)) as StreamReply
        for await (const batch of shown.chunks) for (const { data } of batch) handed.take(data)
        return shown
      },
      async () => new StreamReply('', oneByOne([chunkOf()])),
    )
    expect(handed.isReadOnly).toBe(true)
  })

  test('asks with the call of the chain, and its own answers are sealed', async () => {
    const call = callOf()
    const asked: Call[] = []
    const own = wholeOf()
    const made = await wrapped(
      async (seen, next) => {
        await next(seen)
        await next(seen.withRequest({ user: 'u' }))
        return own
      },
      async (to) => {
        asked.push(to)
        return wholeOf()
      },
      call,
    )
    expect(asked[0]).toBe(call)
    expect([asked[1]!.request.user, asked[1]!.trace === call.trace]).toEqual(['u', true])
    expect(made).toBe(own)
    expect(isReadOnly(own.body)).toBe(true)
    expect(
      await wrapped(
        async () => 'nonsense',
        async () => own,
      ),
    ).toBe('nonsense')
  })

  test('gets errors from inside that it cannot write into', async () => {
    const error = badRequest('no')
    const handed = new Handed()
    const failing = wrapped(
      async (call, next) => {
        try {
          return await next(call)
        } catch (reason) {
          handed.take(reason)
          throw reason
        }
      },
      async () => {
        throw error
      },
    )
    await expect(failing).rejects.toBe(error)
    expect(handed.isReadOnly).toBe(true)
  })
})

describe('a listener', () => {
  const Told = defineEvent('told', z.custom<unknown>(), { description: 'Something.' })

  function heard(data: unknown): { seen: unknown[]; failures: unknown[] } {
    const failures: unknown[] = []
    const events = new Events({ failed: (error) => failures.push(error) })
    const safe = readOnlyEvents(events)
    const seen: unknown[] = []
    safe.on(Told, (told, occurrence) =>
      seen.push(told, occurrence.data, occurrence.type, Object.isFrozen(occurrence)),
    )
    safe.onAny((told, occurrence) =>
      seen.push(told, occurrence.data, occurrence.type, Object.isFrozen(occurrence)),
    )
    safe.emit(Told, data)
    return { seen, failures }
  }

  test('is told what it cannot write into', () => {
    const data = { list: [{ n: 1 }] }
    const { seen, failures } = heard(data)
    expect(failures).toEqual([])
    expect(seen).toEqual([data, data, Told, true, data, data, Told, true])
    expect(isReadOnly(seen[0] as object)).toBe(true)
    for (const nothing of [undefined, null]) expect(heard(nothing).seen[0]).toBe(nothing)
  })

  test('of a call gets its view of it, while the gateway goes on with its own', () => {
    const call = callOf()
    const outcome = { usage: { ...noUsage }, body } as unknown as Outcome
    const data = { call, outcome, more: 1 }
    const [told] = heard(data).seen as [{ call: Call; outcome: Outcome; more: number }]
    expect([told.call, told.more]).toEqual([call.readOnly, 1])
    expect(isReadOnly(told.outcome)).toBe(true)
    expect([Object.isFrozen(data), Object.isFrozen(outcome), Object.isFrozen(told)]).toEqual([
      false,
      false,
      true,
    ])
    expect(Object.keys(heard({ call }).seen[0] as object)).toEqual(['call'])
  })

  test('can be taken away, and what is declared is', () => {
    const events = new Events({ failed() {} })
    const safe = readOnlyEvents(events)
    const seen: unknown[] = []
    const stops = [safe.on(Told, (data) => seen.push(data)), safe.onAny((data) => seen.push(data))]
    events.emit(Told, 1)
    for (const stop of stops) stop()
    events.emit(Told, 2)
    expect(seen).toEqual([1, 1])
  })
})
