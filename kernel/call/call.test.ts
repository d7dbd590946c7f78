import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ModelRequest } from '../../kit/canonical/forms.ts'
import { callWith } from '../../test/chain.ts'
import { changedTexts, mergeParameters, withoutTexts } from './redacted.ts'

describe('a copy of a call', () => {
  test('has other fields in its request, none where they are undefined, and the rest of the call', () => {
    const call = callWith({ model: 'm', temperature: 1, seed: 2 })
    const copy = call.withRequest({ temperature: 0, seed: undefined, user: undefined })
    expect(copy.request).toEqual({ model: 'm', temperature: 0 })
    expect(Object.keys(copy.request)).toEqual(['model', 'temperature'])
    expect(call.request).toEqual({ model: 'm', temperature: 1, seed: 2 })
    const { id, operation, wire, principal, context, timeouts, cancel, trace } = call
    expect(copy).toMatchObject({ id, operation, wire })
    expect([copy.principal, copy.context, copy.timeouts]).toEqual([principal, context, timeouts])
    expect([copy.cancel, copy.trace]).toEqual([cancel, trace])
    expect(copy.cancel).toBe(cancel)
    expect(copy.trace).toBe(trace)
  })

  test('without texts is the same one each time, and of another request another one', () => {
    const call = callWith({ model: 'm', messages: [{ role: 'user', content: 'secret' }] })
    expect(call.redacted).toBe(call.redacted)
    expect(call.redacted.request).toEqual({ model: 'm', messages: [{ role: 'user', content: null }] })
    expect(call.withRequest({ model: 'n' }).redacted.request.model).toBe('n')
  })

  test('is streamed only when that is asked for', () => {
    expect(callWith({ stream: true }).stream).toBe(true)
    for (const stream of [false, undefined, null, 'true'])
      expect(callWith({ stream: stream as boolean }).stream).toBe(false)
  })
})

/** Everything that anybody may read. */
const parameters = {
  model: 'm',
  stream: true,
  stream_options: { include_usage: true },
  max_tokens: 1,
  max_completion_tokens: 2,
  temperature: 0.1,
  top_p: 0.2,
  top_k: 3,
  n: 4,
  seed: 5,
  presence_penalty: 0.3,
  frequency_penalty: 0.4,
  logprobs: true,
  top_logprobs: 6,
  reasoning_effort: 'low',
  verbosity: 'high',
  service_tier: 'flex',
  parallel_tool_calls: false,
  dimensions: 7,
  encoding_format: 'base64',
  modalities: ['text'],
} as unknown as ModelRequest

const texts = {
  user: 'secret',
  metadata: { secret: 'secret' },
  tools: [{ secret: 'secret' }],
  prompt: 'secret',
  input: ['secret'],
  stop: ['secret'],
  instructions: 'secret',
}

test('what is left of a request without its texts are its parameters, and who speaks', () => {
  const messages = [
    { role: 'system', content: 'secret' },
    { role: 'assistant', content: null, tool_calls: [{ secret: 'secret' }], name: 'secret' },
  ]
  const request = { ...parameters, ...texts, messages } as unknown as ModelRequest
  expect(withoutTexts(request)).toEqual({
    ...parameters,
    messages: [
      { role: 'system', content: null },
      { role: 'assistant', content: null },
    ],
  })
  expect(withoutTexts({ model: 'm' })).toEqual({ model: 'm' })
  expect(Object.keys(changedTexts({ model: 'm' }, { ...parameters, model: 'n' }))).toEqual([])
  expect(changedTexts({ model: 'm', user: 'a' }, { model: 'n', user: 'b', stop: 'c' })).toEqual([
    'user',
    'stop',
  ])
  expect(changedTexts({ model: 'm', user: 'a' }, { model: 'm' })).toEqual(['user'])
  expect(changedTexts(request, request)).toEqual([])
})

describe('what somebody changed who saw no texts', () => {
  const call = callWith({ ...parameters, ...texts } as unknown as ModelRequest)

  test('is nothing when that is the call it saw', () => {
    expect(mergeParameters(call, call.redacted, call.redacted)).toBe(call)
  })

  test('is in the call, and its texts stay', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...Object.keys(parameters)), fc.constantFrom(7, undefined, 'x')),
        (fields) => {
          const changed = call.redacted.withRequest(fields)
          const merged = mergeParameters(call, call.redacted, changed)
          expect(merged.request).toEqual(call.withRequest(fields).request)
          expect(merged.trace).toBe(call.trace)
        },
      ),
    )
  })

  test('may be its context and its time alone', () => {
    const timeouts = { ...call.timeouts, totalMs: 5 } as typeof call.timeouts
    const changed = call.redacted.with({ context: { ...call.context, project: 'other' }, timeouts })
    const merged = mergeParameters(call, call.redacted, changed)
    expect(merged.request).toBe(call.request)
    expect(merged.context.project).toBe('other')
    expect(merged.timeouts).toBe(timeouts)
  })
})

describe('the trace of a call', () => {
  test('has headers in small letters, and nothing in them that a header cannot hold', () => {
    const { trace } = callWith()
    trace.header('X-Cache', 'hit\r\nX-Evil: 1 é\t~')
    trace.header('x-count', 7)
    expect(trace.headers).toEqual({ 'x-cache': 'hitX-Evil: 1 \t~', 'x-count': '7' })
  })

  test('has notes with what there is to tell', () => {
    const { trace } = callWith()
    trace.note('a', 'passed')
    trace.note('b', 'changed', { count: 2 })
    expect(trace.notes).toEqual([
      { module: 'a', verdict: 'passed' },
      { module: 'b', verdict: 'changed', detail: { count: 2 } },
    ])
    expect(trace.notes[0]).not.toHaveProperty('detail')
  })

  test('may tell nothing of the request until that is said, and not any more once it is taken back', () => {
    const { trace } = callWith()
    const request = { model: 'm' }
    expect(trace.request).toBeUndefined()
    trace.mayRecord(request)
    expect(trace.request).toBe(request)
    trace.mayRecord(undefined)
    expect(trace.request).toBeUndefined()
  })

  test('writes a request once, and another one anew', () => {
    const { trace } = callWith()
    let written = 0
    const counted = { model: 'm', toJSON: () => ({ written: ++written }) } as unknown as ModelRequest
    expect([trace.json(counted), trace.json(counted)]).toEqual(['{"written":1}', '{"written":1}'])
    expect(trace.json({ model: 'n' })).toBe('{"model":"n"}')
  })

  test('has one value for each owner, made once, also when it is undefined', () => {
    const { trace } = callWith()
    const [a, b] = [Symbol('a'), Symbol('b')]
    let made = 0
    const make = (): undefined => {
      made += 1
      return undefined
    }
    trace.slot(a, make)
    trace.slot(a, make)
    expect(made).toBe(1)
    expect(trace.slot(b, () => 'b')).toBe('b')
    expect(trace.slot(b, () => 'c')).toBe('b')
  })

  test('beside it knows what happened, and leaves nothing of itself', () => {
    const { trace } = callWith()
    const attempt = { n: 1, provider: 'openai', model: 'm' } as (typeof trace.attempts)[number]
    trace.attempts.push(attempt)
    const aside = trace.aside()
    expect([aside.started, aside.startedAt]).toEqual([trace.started, trace.startedAt])
    expect(aside.attempts).toEqual([attempt])
    aside.attempts[0]!.status = 500
    aside.attempts.push(attempt)
    aside.note('shadow', 'noted')
    expect(trace.attempts).toEqual([attempt])
    expect(trace.attempts[0]!.status).toBeUndefined()
    expect(trace.notes).toEqual([])
  })
})
