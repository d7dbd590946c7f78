import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Completion, Delta, ModelRequest } from './forms.ts'
import type { TextLocation } from './text-location.ts'
import {
  mapMessage,
  mapReplyTexts,
  mapRequestParameters,
  mapRequestTexts,
  requestTexts,
  type Spot,
} from './texts.ts'

/** All texts of a request that is as a client writes it, each once, with where they stand. */
const request = {
  model: 'gpt-4o',
  user: 'parameter user',
  temperature: 1,
  stop: ['parameter stop', ''],
  metadata: { team: 'parameter team', id: 'parameter id', none: null },
  tools: [
    {
      type: 'parameter type',
      function: { name: 'parameter name', description: 'parameter description', strict: true },
    },
  ],
  messages: [
    { role: 'system', content: 'system content' },
    {
      role: 'user',
      name: 'parameter who',
      content: [
        { type: 'text', text: 'user content' },
        { type: 'image_url', image_url: { url: 'opaque url', detail: 'opaque detail' } },
        { type: 'text', text: '' },
      ],
    },
    {
      role: 'assistant',
      content: null,
      refusal: 'assistant refusal',
      reasoning_content: 'assistant reasoning',
      thinking_blocks: [{ thinking: 'assistant reasoning two', signature: 'opaque signature' }],
      tool_calls: [
        {
          index: 0,
          id: 'opaque id',
          type: 'function',
          function: { name: 'opaque name', arguments: 'assistant arguments' },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'opaque id', name: 'opaque name', content: 'tool content' },
  ],
} as unknown as ModelRequest

const marked = (text: string): string => `<${text}>`

/** Every string in a value. */
const stringsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}

describe('the texts of a request', () => {
  test('are those of its conversation, each with its role and kind', () => {
    const seen: [string, TextLocation][] = []
    mapRequestTexts(request, (text, place) => {
      seen.push([text, place])
      return text
    })
    for (const [text, { direction, role, kind }] of seen) {
      expect(direction).toBe('request')
      expect(text).toMatch(new RegExp(`^${role} ${kind}( two)?$`))
    }
    const conversation = /^(?:system|user|assistant|tool) (?:content|refusal|reasoning|arguments)/
    const expected = stringsIn(request).filter((text) => conversation.test(text))
    expect(seen.map(([text]) => text).sort()).toEqual(expected.sort())
    expect(requestTexts(request)).toEqual(seen.map(([text, place]) => ({ text, place })))
  })

  test('are changed in their places, and nothing else is', () => {
    const next = mapRequestTexts(request, marked)
    const conversation = /^(?:system|user|assistant|tool) (?:content|refusal|reasoning|arguments)/
    expect(stringsIn(next)).toEqual(
      stringsIn(request).map((text) => (conversation.test(text) ? marked(text) : text)),
    )
    expect(mapRequestTexts(next, (text) => text.slice(1, -1))).toEqual(request)
  })

  test('leave the request as it is when none is another', () => {
    const inputs: ModelRequest[] = [request, { model: 'm', prompt: 'a' }, { model: 'm', input: ['a', 'b'] }]
    for (const one of inputs) {
      expect(mapRequestTexts(one, (text) => text)).toBe(one)
      expect(mapRequestParameters(one, (text) => text)).toBe(one)
    }
  })

  test('are those in files too, and a file of anything else stays', () => {
    const data = (type: string, text: string): string => `data:${type},${text}`
    const base64 = (text: string, charset: BufferEncoding = 'utf8') =>
      Buffer.from(text, charset).toString('base64')
    const files = [
      data('text/plain;base64', base64('user cöntent')),
      data('text/plain;charset=utf-16le;base64', base64('user cöntent', 'utf16le')),
      data('application/vnd.a+json', 'user%20c%C3%B6ntent'),
      data('text/csv', 'user cöntent'),
      data('application/pdf;base64', base64('user cöntent')),
      data('image/png;base64', base64('user cöntent')),
      'user cöntent',
    ]
    const content = files.map((file_data) => ({ type: 'file', file: { filename: 'f', file_data } }))
    const one = { model: 'm', messages: [{ role: 'user', content }] } as unknown as ModelRequest
    const texts = requestTexts(one).map(({ text }) => text)
    expect(texts.filter((text) => text !== 'f')).toEqual(Array(4).fill('user cöntent'))
    const changed = mapRequestTexts(one, (text) => (text === 'f' ? text : marked(text)))
    const left = (changed.messages![0]!.content as unknown as typeof content).map(
      ({ file }) => file.file_data,
    )
    expect(left.slice(0, 4)).toEqual(
      ['text/plain', 'text/plain;charset=utf-8', 'application/vnd.a+json', 'text/csv'].map((type) =>
        data(`${type};base64`, base64('<user cöntent>')),
      ),
    )
    expect(left.slice(4)).toEqual(files.slice(4))
    expect(mapRequestTexts(one, (text) => text)).toBe(one)
  })

  test('leave the messages before the first change as they are', () => {
    const next = mapRequestTexts(request, (text) => (text.startsWith('tool') ? marked(text) : text))
    expect(next.messages!.slice(0, -1).every((message, n) => message === request.messages![n])).toBe(true)
    expect(next.messages!.at(-1)).toEqual({ ...request.messages!.at(-1), content: '<tool content>' })
    expect(next).not.toHaveProperty('prompt')
    expect(next).not.toHaveProperty('input')
  })

  test.each([
    ['prompt', 'one', '<one>'],
    ['prompt', ['one', 'two'], ['<one>', '<two>']],
    ['input', 'one', '<one>'],
    ['input', ['one', 'two'], ['<one>', '<two>']],
    ['input', ['one', 7], ['<one>', 7]],
    ['input', [1, 2], [1, 2]],
    ['input', [[1], [2]], [[1], [2]]],
  ])('are those of %s: %j', (field, value, changed) => {
    const places: TextLocation[] = []
    const one = { model: 'm', [field]: value } as ModelRequest
    const next = mapRequestTexts(one, (text, place) => {
      places.push(place)
      return marked(text)
    })
    expect(next).toEqual({ model: 'm', [field]: changed })
    for (const place of places) expect(place).toEqual({ direction: 'request', role: 'user', kind: 'content' })
  })
})

describe('the parameters of a request', () => {
  test('are all other strings, names too, and never its model', () => {
    const places: TextLocation[] = []
    const next = mapRequestParameters(request, (text, place) => {
      places.push(place)
      return marked(text)
    })
    expect(stringsIn(next)).toEqual(
      stringsIn(request).map((text) => (text.startsWith('parameter') ? marked(text) : text)),
    )
    expect(places).toHaveLength(stringsIn(request).filter((text) => text.startsWith('parameter')).length)
    for (const place of places)
      expect(place).toEqual({ direction: 'request', role: 'user', kind: 'parameter' })
    expect(mapRequestParameters({ model: 'm', prompt: 'p', input: 'i' }, marked)).toEqual({
      model: 'm',
      prompt: 'p',
      input: 'i',
    })
  })
})

describe('the texts of an answer', () => {
  const body = {
    id: 'c1',
    choices: [
      { index: 0, finish_reason: 'stop', text: 'assistant content' },
      { index: 1, finish_reason: 'stop', message: { role: 'assistant', content: 'assistant content' } },
      {
        index: 2,
        finish_reason: 'stop',
        message: { role: 'assistant', content: null, refusal: 'assistant refusal' },
      },
    ],
  } as unknown as Completion

  test('are those of its choices, whatever form they have', () => {
    const next = mapReplyTexts(body, (text, { direction, role, kind }) => {
      expect([direction, text]).toEqual(['reply', `${role} ${kind}`])
      return marked(text)
    })
    expect(stringsIn(next)).toEqual(
      stringsIn(body).map((text) => (text.startsWith('assistant ') ? marked(text) : text)),
    )
  })

  test('leave it as it is when none is another', () => {
    expect(mapReplyTexts(body, (text) => text)).toBe(body)
    expect(mapReplyTexts({ id: 'none' } as Completion, marked)).toEqual({ id: 'none' })
  })
})

describe('a part of a streamed message', () => {
  /** What a delta says, and where. */
  const said = (delta: Delta): [string, Spot][] => {
    const seen: [string, Spot][] = []
    mapMessage(delta, (text, spot) => {
      seen.push([text, spot])
      return text
    })
    return seen
  }

  const calls = fc.record({
    index: fc.nat(3),
    type: fc.constant('function'),
    text: fc.constantFrom('a', 'b'),
  })
  const deltas = fc.oneof(
    fc
      .constantFrom('content', 'refusal', 'reasoning', 'reasoning_content', 'thinking', 'annotation')
      .map((field) => ({ [field]: 'said' })),
    calls.map(({ index, type, text }) => ({ tool_calls: [{ index, type, function: { arguments: text } }] })),
    calls.map(({ index, text }) => ({ content: [{ index, type: 'text', text }] })),
    calls.map(({ index, text }) => ({ thinking_blocks: [{ index, thinking: text, signature: 'opaque' }] })),
  ) as fc.Arbitrary<Delta>

  test('is written alone as it is read: the same kind, in the same lane', () => {
    fc.assert(
      fc.property(deltas, (delta) => {
        const [[, { kind, lane, wrap }]] = said(delta) as [[string, Spot]]
        const again = said(wrap('more'))
        expect(again).toEqual([['more', expect.objectContaining({ kind, lane })]])
        expect(lane).toBeDefined()
      }),
    )
  })

  test.each([
    [{ content: 'x' }, 'content', 'content'],
    [{ reasoning: 'x' }, 'reasoning', 'reasoning'],
    [{ thoughts: 'x' }, 'content', 'thoughts'],
    [{ thinking: 'x' }, 'reasoning', 'thinking'],
    [
      { tool_calls: [{ index: 2, function: { arguments: 'x' } }] },
      'arguments',
      'tool_calls.2.function.arguments',
    ],
    [{ tool_calls: [{ function: { arguments: 'x' } }] }, 'arguments', 'tool_calls.0.function.arguments'],
  ])('%j is %s in the lane %s', (delta, kind, lane) => {
    expect(said(delta as unknown as Delta)).toEqual([['x', expect.objectContaining({ kind, lane })]])
  })

  test('comes whole where it does not grow, so it has no lane', () => {
    const annotation = { index: 1, title: 'whole', subtext: 'whole', texture: 'whole', text: 'grows' }
    const delta = { annotations: [annotation] } as unknown as Delta
    expect(said(delta).map(([text, { lane }]) => [text, lane])).toEqual([
      ['whole', undefined],
      ['whole', undefined],
      ['whole', undefined],
      ['grows', 'annotations.1.text'],
    ])
  })

  test('is written alone with what tells it apart, and nothing else', () => {
    const written = (part: object): Delta => said({ parts: [part] } as unknown as Delta)[0]![1].wrap('y')
    expect(written({ index: 1, type: 'note', text: 'x', more: 7 })).toStrictEqual({
      parts: [{ index: 1, type: 'note', text: 'y' }],
    })
    expect(written({ text: 'x' })).toStrictEqual({ parts: [{ text: 'y' }] })
  })

  test('has no texts in names, ids and what is empty', () => {
    const delta = {
      role: 'assistant',
      id: 'opaque',
      content: '',
      refusal: null,
      Message_Id: 'opaque',
      encrypted_content: 'opaque',
      thought_signature: 'opaque',
      tool_calls: [{ index: 0, id: 'opaque', type: 'function', function: { name: 'opaque', arguments: '' } }],
    } as unknown as Delta
    expect(said(delta)).toEqual([])
    expect(mapMessage(delta, marked)).toBe(delta)
  })

  test('is text in fields that only look like names', () => {
    const delta = { renamed: 'a', details: 'b', ideas: 'c', my_model: 'd' } as unknown as Delta
    expect(said(delta).map(([text]) => text)).toEqual(['a', 'b', 'c', 'd'])
  })
})
