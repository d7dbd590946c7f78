import { describe, expect, test } from 'vitest'
import type { ModelRequest } from '../../kit/canonical/forms.ts'
import { callWith, entryOf } from '../../test/chain.ts'
import { detectionOf, detectorsOf } from '../../test/detection.ts'
import type { Call } from '../call/call.ts'
import type { Detection } from '../detect/detect.ts'
import { looksElsewhere } from './batches.ts'
import type { Entry } from './entry.ts'
import { redactReply, redactRequest } from './redact.ts'

const key = detectionOf([{ pattern: /k\d{3}/, replacement: '[key]' }], { reach: 4 })
const mail = detectionOf([{ pattern: /a@b/, replacement: '"mail"' }], { reach: 3 })
const blocking = {
  ...detectionOf([{ pattern: /k\d{3}/, replacement: '' }], { reach: 4, action: 'block' }),
  refusal: 'No keys.',
}

const guard = (detection: Detection, id = 'guard'): Entry => entryOf(id, { detect: { request: detection } })
const redacted = (request: Partial<ModelRequest>, detection = key): ModelRequest =>
  redactRequest(callWith(request), guard(detection), () => []).request

function thrownBy(call: Call, entry: Entry, later: readonly Entry[] = []): unknown {
  try {
    redactRequest(call, entry, () => later)
  } catch (error) {
    return error
  }
  return undefined
}

describe('a request', () => {
  test('is redacted wherever it holds text', () => {
    const call = {
      id: 'call_k123',
      type: 'function',
      function: { name: 'f', arguments: '{"x":"k123"}' },
    } as const
    expect(
      redacted({
        messages: [
          { role: 'system', content: 'k123' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'k123' },
              { type: 'image_url', image_url: { url: 'k123' } },
            ],
          },
          {
            role: 'assistant',
            content: null,
            reasoning_content: 'k123',
            refusal: 'k123',
            tool_calls: [call],
          },
          { role: 'assistant', function_call: { name: 'g', arguments: '["k123"]' } },
          { role: 'tool', tool_call_id: 'call_k123', content: 'k123' },
        ],
        tools: [
          { type: 'function', function: { name: 'f', description: 'k123', parameters: { enum: ['k123'] } } },
        ],
        metadata: { url: 'k123' },
        user: 'k123',
        unheard_of: [{ of: 'k123' }],
        temperature: 1,
      }),
    ).toEqual({
      model: 'm',
      messages: [
        { role: 'system', content: '[key]' },
        {
          role: 'user',
          content: [
            { type: 'text', text: '[key]' },
            { type: 'image_url', image_url: { url: 'k123' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          reasoning_content: '[key]',
          refusal: '[key]',
          tool_calls: [{ ...call, function: { name: 'f', arguments: '{"x":"[key]"}' } }],
        },
        { role: 'assistant', function_call: { name: 'g', arguments: '["[key]"]' } },
        { role: 'tool', tool_call_id: 'call_k123', content: '[key]' },
      ],
      tools: [
        { type: 'function', function: { name: 'f', description: '[key]', parameters: { enum: ['[key]'] } } },
      ],
      metadata: { url: '[key]' },
      user: '[key]',
      unheard_of: [{ of: '[key]' }],
      temperature: 1,
    })
  })

  test('is redacted as prompt and as input, alone or in a list; tokens are left as they are', () => {
    expect(redacted({ prompt: 'k123' }).prompt).toBe('[key]')
    expect(redacted({ input: ['x', 'k123'] }).input).toEqual(['x', '[key]'])
    expect(redacted({ input: [123, 4] }).input).toEqual([123, 4])
    expect(redacted({ prompt: [[1], [2]] }).prompt).toEqual([[1], [2]])
  })

  test('stays the same object when nothing is found', () => {
    const call = callWith({ messages: [{ role: 'user', content: 'fine' }], metadata: { a: 'b' } })
    expect(redactRequest(call, guard(key), () => [])).toBe(call)
  })

  test('tells detectors where a text stands', () => {
    const places: unknown[] = []
    const watching: Detection = {
      reach: 1,
      scan(text, place) {
        places.push([text, place.role, place.kind])
        return []
      },
    }
    redacted(
      {
        messages: [{ role: 'assistant', content: 'c', reasoning: 'r', function_call: { arguments: '1' } }],
        user: 'u',
      },
      watching,
    )
    expect(places).toEqual([
      ['c', 'assistant', 'content'],
      ['r', 'assistant', 'reasoning'],
      ['1', 'assistant', 'arguments'],
      ['u', 'user', 'parameter'],
    ])
  })
})

describe('a request with a finding that blocks', () => {
  const call = (): Call =>
    callWith({
      messages: [
        { role: 'system', content: 'write to a@b' },
        { role: 'user', content: 'k123 and k456 here' },
      ],
      user: 'k789',
    })

  test('is refused in the words of the detection, without what was found', () => {
    const error = thrownBy(call(), guard(blocking))
    expect(error).toMatchObject({
      status: 400,
      type: 'content_blocked',
      message: 'No keys.',
      details: { found: 'k\\d{3}' },
    })
    expect(JSON.stringify(error)).not.toContain('k123')
  })

  test('may be recorded without any of its findings, those of later modules neither', () => {
    const refused = call()
    thrownBy(refused, guard(blocking), [guard(mail, 'mask')])
    expect(refused.trace.request).toMatchObject({
      messages: [
        { content: 'write to "mail"' },
        { content: '[blocked: k\\d{3}] and [blocked: k\\d{3}] here' },
      ],
      user: '[blocked: k\\d{3}]',
    })
  })

  test('is not recorded at all when a later module cannot say what it would take out', () => {
    const broken: Detection = {
      reach: 1,
      scan() {
        throw new TypeError('broken')
      },
    }
    const refused = call()
    expect(thrownBy(refused, guard(blocking), [guard(broken, 'mask')])).toMatchObject({
      type: 'content_blocked',
    })
    expect(refused.trace.request).toBeUndefined()
  })

  test('is not recorded either when one of the later modules looks in another thread', () => {
    const refused = call()
    const elsewhere = entryOf('far', { detect: { request: mail }, [looksElsewhere]: true })
    thrownBy(refused, guard(blocking), [guard(mail, 'mask'), elsewhere])
    expect(refused.trace.request).toBeUndefined()
  })
})

describe('an answer', () => {
  const body = {
    choices: [
      { index: 0, message: { role: 'assistant', content: 'k123 a@b' }, finish_reason: 'stop' },
      { index: 1, message: { role: 'assistant', content: 'fine' }, finish_reason: 'stop' },
    ],
  } as const

  test('is redacted by all detectors in one pass, and keeps the choices that nothing was found in', () => {
    const after = redactReply(body, detectorsOf([key, mail]))
    expect(after.choices?.map(({ message }) => message?.content)).toEqual(['[key] "mail"', 'fine'])
    expect(after.choices?.[1]).toBe(body.choices[1])
    expect(redactReply(body, detectorsOf([]))).toBe(body)
  })

  test('loses the log probabilities of what was changed, and keeps those of the rest', () => {
    const logprobs = { content: [{ token: 'k123', logprob: -1, bytes: null, top_logprobs: [] }] }
    const spelled = { choices: body.choices.map((choice) => ({ ...choice, logprobs })) }
    const after = redactReply(spelled, detectorsOf([key]))
    expect(after.choices?.map((choice) => choice.logprobs)).toEqual([null, logprobs])
    expect(redactReply(body, detectorsOf([key])).choices?.[0]).not.toHaveProperty('logprobs')
  })

  test('with a finding that blocks is refused by its module', () => {
    const thrown = (): unknown => redactReply(body, detectorsOf([mail, blocking]))
    expect(thrown).toThrow(expect.objectContaining({ type: 'content_blocked', module: 'd1' }))
  })

  test('adds the time of each detector to the account of its module once, also when it is refused', () => {
    const call = callWith()
    redactReply(body, detectorsOf([key, mail], call))
    expect(call.trace.timings.map(({ module }) => module)).toEqual(['d0', 'd1'])
    const refused = callWith()
    expect(() => redactReply(body, detectorsOf([mail, blocking], refused))).toThrow()
    expect(refused.trace.timings.map(({ module }) => module)).toEqual(['d0', 'd1'])
  })
})
