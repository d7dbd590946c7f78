import { describe, expect, test } from 'vitest'
import type { Completion, ModelRequest } from '../../kit/canonical/forms.ts'
import { ClientGone } from '../../kit/errors.ts'
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
  (redactRequest(callWith(request), guard(detection), () => []) as Call).request

function thrownBy(call: Call, entry: Entry, later: readonly Entry[] = []): unknown {
  try {
    void redactRequest(call, entry, () => later)
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
    const after = redactReply(body, detectorsOf([key, mail])) as Completion
    expect(after.choices?.map(({ message }) => message?.content)).toEqual(['[key] "mail"', 'fine'])
    expect(after.choices?.[1]).toBe(body.choices[1])
    expect(redactReply(body, detectorsOf([]))).toBe(body)
  })

  test('loses the log probabilities of what was changed, and keeps those of the rest', () => {
    const logprobs = { content: [{ token: 'k123', logprob: -1, bytes: null, top_logprobs: [] }] }
    const spelled = { choices: body.choices.map((choice) => ({ ...choice, logprobs })) }
    const after = redactReply(spelled, detectorsOf([key])) as Completion
    expect(after.choices?.map((choice) => choice.logprobs)).toEqual([null, logprobs])
    const plain = redactReply(body, detectorsOf([key])) as Completion
    expect(plain.choices?.[0]).not.toHaveProperty('logprobs')
  })

  test('with a finding that blocks is refused by its module', () => {
    const thrown = (): unknown => redactReply(body, detectorsOf([mail, blocking]))
    expect(thrown).toThrow(expect.objectContaining({ type: 'content_blocked', module: 'd1' }))
  })

  test('adds the time of each detector to the account of its module once, also when it is refused', () => {
    const call = callWith()
    void redactReply(body, detectorsOf([key, mail], call))
    expect(call.trace.timings.map(({ module }) => module)).toEqual(['d0', 'd1'])
    const refused = callWith()
    expect(() => redactReply(body, detectorsOf([mail, blocking], refused))).toThrow()
    expect(refused.trace.timings.map(({ module }) => module)).toEqual(['d0', 'd1'])
  })
})

describe('what is long', () => {
  const text = 'k123 and a@b, then k456 \u{1f511} '.repeat(20_000)
  const said = text.replaceAll(/k\d{3}/g, '[key]').replaceAll('a@b', '"mail"')
  /** A detection with the longest text that it was given at once. */
  const watched = (detection: Detection) => {
    const seen = { longest: 0 }
    const scan: Detection['scan'] = (text, ...more) => {
      seen.longest = Math.max(seen.longest, text.length)
      return detection.scan(text, ...more)
    }
    return { seen, detection: { ...detection, scan } }
  }

  test('is searched in parts, with turns for other calls, and comes out as it would in one', async () => {
    const both = [watched(key), watched(mail)]
    const detectors = detectorsOf(both.map(({ detection }) => detection))
    const message = { role: 'assistant' as const, content: text, refusal: 'k123' }
    const reply = await redactReply({ choices: [{ index: 0, message, finish_reason: 'stop' }] }, detectors)
    expect(reply.choices?.[0]?.message).toEqual({ role: 'assistant', content: said, refusal: '[key]' })
    const { seen, detection } = watched(key)
    const content = [
      { type: 'text', text: 'k1' },
      { type: 'text', text },
      { type: 'text', text: 'k789' },
    ]
    const arguments_ = JSON.stringify({ text })
    const tool_calls = [
      { id: 'c', type: 'function' as const, function: { name: 'f', arguments: arguments_ } },
    ]
    const call = callWith({
      messages: [
        { role: 'user', content },
        { role: 'assistant', content: null, tool_calls },
      ],
    })
    const { request } = await redactRequest(call, guard(detection), () => [])
    const masked = text.replaceAll(/k\d{3}/g, '[key]')
    expect(request.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'k1' },
          { type: 'text', text: masked },
          { type: 'text', text: '[key]' },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { ...tool_calls[0], function: { name: 'f', arguments: JSON.stringify({ text: masked }) } },
        ],
      },
    ])
    for (const { longest } of [seen, ...both.map((one) => one.seen)])
      expect(longest).toBeLessThan(text.length / 8)
  })

  test('is refused for what stands at its end, and its record has it without any finding of any module', async () => {
    const call = callWith({ messages: [{ role: 'user', content: `${'a@b '.repeat(50_000)}k123` }] })
    const refused = await Promise.resolve(
      redactRequest(call, guard(blocking), () => [guard(mail, 'later')]),
    ).catch((error: unknown) => error)
    expect(refused).toMatchObject({ type: 'content_blocked' })
    expect(call.trace.request?.messages?.[0]?.content).toBe(`${'"mail" '.repeat(50_000)}[blocked: k\\d{3}]`)
  })

  test('is studied before its scan, step by step, with turns for other work', async () => {
    const seen: string[] = []
    let turns = 0
    const other = setInterval(() => (turns += 1))
    const study = function* (studied: string): Generator<undefined> {
      for (let step = 0; step < 4; step += 1) {
        const ends = performance.now() + 11
        while (performance.now() < ends);
        yield
      }
      seen.push(`studied ${studied.length}`)
    }
    const scan: Detection['scan'] = (part) => {
      seen.push(`scanned ${part.length}`)
      return []
    }
    const whole: Detection = { reach: Number.MAX_SAFE_INTEGER, study, scan }
    await redactRequest(callWith({ messages: [{ role: 'user', content: text }] }), guard(whole), () => [])
    clearInterval(other)
    expect(seen).toEqual([`studied ${text.length}`, `scanned ${text.length}`])
    expect(turns).toBeGreaterThan(1)
  })

  test('is left to the failure policy of a module that cannot study it', async () => {
    const study = function* (): Generator<undefined> {
      yield
      throw new Error('no')
    }
    const call = callWith({ messages: [{ role: 'user', content: text }] })
    const entry = guard({ reach: Number.MAX_SAFE_INTEGER, study, scan: () => [] })
    await expect(Promise.resolve(redactRequest(call, entry, () => []))).rejects.toMatchObject({
      message: expect.stringContaining('The module guard failed'),
    })
  })

  test('is not searched to its end when nobody waits for it any more', async () => {
    let scans = 0
    const scan: Detection['scan'] = () => {
      scans += 1
      if (scans === 2) call.cancel.abort(new ClientGone())
      return []
    }
    const call = callWith({ messages: [{ role: 'user', content: text }] })
    await expect(redactRequest(call, guard({ reach: 4, scan }), () => [])).rejects.toThrow(ClientGone)
    expect(scans).toBe(2)
  })
})
