import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Chunk } from '../../kit/canonical/chunk.ts'
import { toChunks } from '../../kit/canonical/chunks.ts'
import type { Completion } from '../../kit/canonical/forms.ts'
import { badRequest } from '../../kit/errors.ts'
import { callWith, entryOf, oneByOne } from '../../test/chain.ts'
import { detectionOf } from '../../test/detection.ts'
import { type Reply, StreamReply, WholeReply } from '../call/reply.ts'
import type { Filter } from '../stream/filter.ts'
import { BatchFilter } from './batches.ts'
import { Chain } from './chain.ts'
import type { Entry } from './entry.ts'
import type { Hooks } from './hooks.ts'

/** What modules do to answers, and what becomes of an answer when they fail over it. */

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const body: Completion = {
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'k123' }, finish_reason: 'stop' }],
}
const chunks = toChunks(body, 1)
const slowly = (ms: number): void => void vi.advanceTimersByTime(ms)
const bug = (): never => {
  throw new TypeError('a bug')
}

async function run(entries: readonly Entry[], stream: boolean) {
  const whole = WholeReply.of(body)
  const chain = new Chain(entries, async () => (stream ? new StreamReply('', oneByOne(chunks)) : whole))
  const call = callWith({ stream })
  const came: Chunk[] = []
  let reply: Reply | undefined
  let error: unknown
  try {
    reply = await chain.run(call)
    if (reply.kind === 'stream') for await (const batch of reply.chunks) came.push(...batch)
  } catch (thrown) {
    error = thrown
  }
  return { call, chain, whole, reply, came, error }
}

const filtering = (filter: () => Filter): Hooks => ({ stream: filter })
const passing: Filter = { push: (chunk, out) => out.emit(chunk) }

describe('a filter that fails', () => {
  const broken: Record<string, () => Filter> = {
    'as it is made': bug,
    'at once': () => ({ push: bug, end: bug }),
    'in the middle': () => {
      let left = 2
      return { push: (chunk, out) => (left-- > 0 ? out.emit(chunk) : bug()), end: bug }
    },
    'at the end': () => ({ ...passing, end: bug }),
  }

  test.each(Object.entries(broken))('%s is left out, and the stream is whole', async (_, filter) => {
    const entry = entryOf('bad', filtering(filter), { failure: 'open' })
    const { came, error } = await run([entry], true)
    expect(error).toBeUndefined()
    expect(came).toEqual(chunks)
    expect(came.every((chunk, i) => chunk === chunks[i])).toBe(true)
    expect(entry.meter.events.map(({ detail }) => detail)).toEqual(['stream: TypeError'])
  })

  test.each(Object.entries(broken))(
    '%s ends the stream, where its policy is to refuse',
    async (_, filter) => {
      const { error } = await run([entryOf('bad', filtering(filter))], true)
      expect(error).toMatchObject({ code: 'internal_error', module: 'bad' })
    },
  )

  test('by refusing ends the stream with its refusal, whatever its policy', async () => {
    const refusing = (): Filter => ({
      push() {
        throw badRequest('no')
      },
    })
    const entry = entryOf('bad', filtering(refusing), { failure: 'open' })
    const { error, came } = await run([entry], true)
    expect(error).toMatchObject({ code: 'bad_request', module: 'bad' })
    expect([came, entry.meter.errors]).toEqual([[], 0])
  })
})

test('the time of a filter is one run of its module', async () => {
  const slow = (): Filter => ({
    push(chunk, out) {
      slowly(2)
      out.emit(chunk)
    },
  })
  const entry = entryOf('slow', filtering(slow))
  const { call } = await run([entry], true)
  const ms = 2 * chunks.length
  expect(call.trace.timings).toEqual([{ module: 'slow', hook: 'stream', ms }])
  expect([...entry.meter.hooks]).toEqual([['stream', { calls: 1, totalMs: ms }]])
})

describe.each([false, true])('an answer, streamed: %s,', (stream) => {
  test('is rewritten by one module among others that do nothing to it', async () => {
    const request: Hooks = { request: () => undefined }
    const reply: Hooks = { reply: (seen) => ({ ...seen, model: 'other' }), stream: 'buffer' }
    const rewriting = entryOf('one', reply)
    const { call, came, reply: made } = await run([entryOf('none', request), rewriting], stream)
    const rewritten = stream ? came[0]!.data : (made as WholeReply).body
    expect(rewritten.model).toBe('other')
    expect(call.trace.rewrites).toMatchObject([{ module: 'one', of: 'reply', after: { model: 'other' } }])
  })

  test('stays the very same when nothing is done to it, and the time of looking is told', async () => {
    const reply: Hooks = {
      reply() {
        slowly(7)
        return undefined
      },
      stream: 'buffer',
    }
    const { call, came, reply: made, whole } = await run([entryOf('looks', reply)], stream)
    if (stream) expect(came.every((chunk, i) => chunk === chunks[i])).toBe(true)
    else expect(made).toBe(whole)
    expect(call.trace.timings).toEqual([{ module: 'looks', hook: 'reply', ms: 7 }])
    expect(call.trace.rewrites).toEqual([])
  })

  test('is left as it was by a module that fails over it', async () => {
    const entry = entryOf('bad', { reply: bug, stream: 'buffer' }, { failure: 'open' })
    const { came, reply: made, whole } = await run([entry], stream)
    if (stream) expect(came).toEqual(chunks)
    else expect(made).toBe(whole)
    expect(entry.meter.events.map(({ detail }) => detail)).toEqual(['reply: TypeError'])
  })

  test('is looked through by detections that have something to look for in the call, and by no others', async () => {
    const key = detectionOf([{ pattern: /k\d{3}/, replacement: '[key]' }], { reach: 4 })
    const text = async (applies: (() => boolean) | undefined, failure: Entry['failure'] = 'open') => {
      const detection = applies ? { ...key, applies } : key
      const entry = entryOf('guard', { detect: { reply: detection } }, { failure })
      const { came, reply: made, error } = await run([entry], stream)
      if (error) return error
      return stream
        ? came.map(({ data }) => data.choices[0]?.delta?.content ?? '').join('')
        : (made as WholeReply).body.choices?.[0]?.message?.content
    }
    expect(await text(undefined)).toBe('[key]')
    expect(await text(() => true)).toBe('[key]')
    expect(await text(() => undefined as never)).toBe('[key]')
    expect(await text(() => false)).toBe('k123')
    expect(await text(bug)).toBe('k123')
    expect(await text(bug, 'closed')).toMatchObject({ code: 'internal_error', module: 'guard' })
  })
})

test('a module that only has something for streams does nothing to a whole answer', async () => {
  const entry = entryOf(
    'streams',
    filtering(() => passing),
  )
  const { reply, whole, call } = await run([entry], false)
  expect(reply).toBe(whole)
  expect(call.trace.timings).toEqual([])
})

describe('between neighbours', () => {
  const key = detectionOf([{ pattern: /k\d{3}/, replacement: '[key]' }], { reach: 4 })
  const digit = detectionOf([{ pattern: /\d/, replacement: '#' }], { reach: 1 })
  const textOf = (came: readonly Chunk[]): string =>
    came.map(({ data }) => data.choices[0]?.delta?.content ?? '').join('')

  test.each([false, true])(
    'detections look at what came, not at what the others made of it (streamed: %s)',
    async (stream) => {
      const entries = [
        entryOf('key', { detect: { reply: key } }),
        entryOf('digit', { detect: { reply: digit } }),
      ]
      const { came, reply } = await run(entries, stream)
      const text = stream ? textOf(came) : (reply as WholeReply).body.choices?.[0]?.message?.content
      expect(text).toBe('[key]')
    },
  )

  test('what holds a stream back gets what those behind it made of it, and so does what takes its time', async () => {
    const seen: unknown[] = []
    const holding: Hooks = {
      reply(whole) {
        seen.push(whole.choices?.[0]?.message?.content)
        return undefined
      },
      stream: 'buffer',
    }
    const masking = entryOf('key', { detect: { reply: key } })
    await run([entryOf('holds', holding), masking], true)
    const slow = new BatchFilter(async function* (batches) {
      for await (const batch of batches) {
        seen.push(textOf(batch))
        yield batch
      }
    })
    const { came } = await run([entryOf('slow', { stream: () => slow }), masking], true)
    expect(seen.filter((text) => text !== '')).toEqual(['[key]', '[key]'])
    expect(textOf(came)).toBe('[key]')
  })
})
