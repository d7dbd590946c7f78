import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { Assembler } from '../../kit/canonical/assemble.ts'
import { Chunk } from '../../kit/canonical/chunk.ts'
import type { Choice, ChoiceDelta, Completion, Message } from '../../kit/canonical/forms.ts'
import type { GatewayError } from '../../kit/errors.ts'
import { callWith, entryOf, oneByOne } from '../../test/chain.ts'
import { cutText, detectionOf, detectorsOf } from '../../test/detection.ts'
import { runs } from '../../test/suite/runs.ts'
import { Detector } from '../chain/detector.ts'
import { redactReply } from '../chain/redact.ts'
import { type Filter, filterStream } from '../stream/filter.ts'
import type { Detection } from './detect.ts'
import { Redaction } from './redaction.ts'
import { Window } from './window.ts'

const key = detectionOf([{ pattern: /k\d{3,5}(?!\d)/, replacement: '[key]' }], { reach: 7, context: 0 })
const mail = detectionOf([{ pattern: /[ab]@[ab]{1,3}/, replacement: '"mail"' }], { reach: 6 })
const both = [key, mail]

/** The same, with long findings possible too: what comes behind a text waits for long. */
const patient: Detection[] = [
  { ...key, reach: 2000, open: (text, _, from) => Math.max(from, text.search(/(?:k\d{0,5})?$/)) },
  { ...mail, reach: 2000, open: (text, _, from) => Math.max(from, text.search(/(?:[ab](?:@[ab]{0,3})?)?$/)) },
]

const head = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm' }
const chunkOf = (...choices: ChoiceDelta[]): Chunk =>
  Chunk.fromBytes(Buffer.from(`data: ${JSON.stringify({ ...head, choices })}\n\n`))

async function passed(chunks: readonly Chunk[], ...filters: Filter[]): Promise<Chunk[]> {
  return (await Array.fromAsync(filterStream(oneByOne(chunks), filters))).flat()
}

const redactedStream = (
  chunks: readonly Chunk[],
  detections: readonly Detection[] = both,
): Promise<Chunk[]> => passed(chunks, new Redaction(detectorsOf(detections)))

function assembled(chunks: readonly Chunk[]): Completion {
  const assembler = new Assembler()
  for (const chunk of chunks) assembler.add(chunk.data)
  return assembler.completion()
}

const choicesOf = (chunks: readonly Chunk[]): ChoiceDelta[] => chunks.flatMap(({ data }) => data.choices)

const text = fc.string({ unit: fc.constantFrom('k', '1', '23', 'a', 'b', '@', ' ', '😀'), maxLength: 30 })
const json = fc
  .dictionary(
    fc.constantFrom('to', 'k123', 'é'),
    fc.oneof(text, fc.constantFrom('k1"2', 'a@b\n', 'k\\', 1234)),
    {
      maxKeys: 3,
    },
  )
  .map((value) => JSON.stringify(value))

/** What chunks say, in order: each text with where it stands, neighbours in the same place as one. `reasoning` is a copy. */
function runsOf(chunks: readonly Chunk[]): [string, unknown][] {
  const runs: [string, unknown][] = []
  const add = (place: string, said: unknown): void => {
    const last = runs.at(-1)
    if (said === '' || said === undefined) return
    if (last?.[0] === place && typeof said === 'string') last[1] += said
    else runs.push([place, said])
  }
  for (const { delta = {} } of choicesOf(chunks)) {
    const { tool_calls, reasoning_details, annotations, reasoning: _, ...texts } = delta
    for (const { index, text, signature } of (reasoning_details ?? []) as Record<string, unknown>[]) {
      add(`details ${String(index)}`, text)
      add(`signature ${String(index)}`, signature)
    }
    for (const [field, text] of Object.entries(texts)) add(field, text)
    for (const { index, id, function: fn } of tool_calls ?? []) {
      add(`call ${index}`, id)
      add(`call ${index}`, fn?.arguments)
    }
    add('annotations', annotations)
  }
  return runs
}

type Delta = NonNullable<ChoiceDelta['delta']>

const toolDelta =
  (index: number) =>
  (text: string): Delta => ({ tool_calls: [{ index, function: { arguments: text } }] })
const fieldDelta =
  (field: string) =>
  (text: string): Delta => ({ [field]: text })

/** The deltas of everything a message can say, each text in parts that fall between those of the others. */
const deltas: fc.Arbitrary<Delta[]> = fc
  .tuple(
    cutText(text).map((parts) => parts.map(fieldDelta('content'))),
    cutText(text).map((parts) => parts.map(fieldDelta('reasoning_content'))),
    cutText(text).map((parts) => parts.map(fieldDelta('refusal'))),
    cutText(json).map((parts) => parts.map(toolDelta(0))),
    cutText(json).map((parts) => parts.map(toolDelta(3))),
    fc.array(fc.nat({ max: 4 }), { maxLength: 80 }),
  )
  .map(([...lanes]) => {
    const order = lanes.pop() as number[]
    const queues = lanes as Delta[][]
    const mixed = order.flatMap((i) => queues[i]!.splice(0, 1))
    return [{ role: 'assistant', content: '' } as Delta, ...mixed, ...queues.flat()]
  })

const isSame = (streamed: Completion, body: Completion): void => {
  const whole = redactReply(body, detectorsOf(both))
  expect(streamed).toEqual(whole)
}

describe('a redacted stream', () => {
  test('says what the redacted whole says, however its texts are cut and mixed', async () => {
    await fc.assert(
      fc.asyncProperty(deltas, fc.boolean(), async (deltas, finishCarries) => {
        const last = finishCarries ? deltas.pop()! : {}
        const chunks = deltas.map((delta) => chunkOf({ index: 0, delta, finish_reason: null }))
        chunks.push(chunkOf({ index: 0, delta: last, finish_reason: 'stop' }))
        isSame(assembled(await redactedStream(chunks, patient)), assembled(chunks))
      }),
      runs(500),
    )
  })

  test('has nothing whole that is looked for, however far others come between its parts', async () => {
    await fc.assert(
      fc.asyncProperty(deltas, async (deltas) => {
        const chunks = deltas.map((delta) => chunkOf({ index: 0, delta, finish_reason: null }))
        chunks.push(chunkOf({ index: 0, delta: {}, finish_reason: 'stop' }))
        const streamed = assembled(await redactedStream(chunks))
        expect(redactReply(streamed, detectorsOf(both))).toBe(streamed)
      }),
      runs(500),
    )
  })

  test('keeps the order of what it says, whatever is held of it', async () => {
    const words = fc.string({ unit: fc.constantFrom('k', '1', 'a', ' '), maxLength: 30 })
    const steps = fc.oneof(
      fc
        .tuple(fc.constantFrom('content', 'reasoning_content', 'refusal'), words)
        .map(([field, text]) => fieldDelta(field)(text)),
      fc.tuple(fc.nat({ max: 2 }), words).map(([index, text]) => toolDelta(index)(text)),
      fc
        .nat({ max: 2 })
        .map((index): Delta => ({ tool_calls: [{ index, id: `c${index}`, type: 'function' }] })),
      fc
        .tuple(fc.nat({ max: 2 }), words)
        .map(([index, text]): Delta => ({ reasoning_details: [{ index, text }], reasoning: text })),
      fc.nat({ max: 2 }).map((index): Delta => ({ reasoning_details: [{ index, signature: 's' }] })),
      fc.tuple(words, words).map(([content, text]): Delta => ({ content, ...toolDelta(0)(text) })),
      fc.constant({ annotations: [{ note: 'n' }] } as Delta),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(steps, { maxLength: 40 }),
        fc.constantFrom(2, 9, 60),
        async (deltas, reach) => {
          const never = detectionOf([{ pattern: /never/, replacement: '' }], { reach })
          const chunks = deltas.map((delta) => chunkOf({ index: 0, delta, finish_reason: null }))
          chunks.push(chunkOf({ index: 0, delta: {}, finish_reason: 'stop' }))
          expect(runsOf(await redactedStream(chunks, [never]))).toEqual(runsOf(chunks))
        },
      ),
      {
        ...runs(500),
        // Texts that are alike by chance, of which neither is a copy of the other.
        examples: [
          [[{ content: ' a ', ...toolDelta(0)(' a ') }], 2],
          [[{ tool_calls: [0, 1].map((index) => ({ index, function: { arguments: '{}  ' } })) }], 2],
        ],
      },
    )
  })

  test('holds what comes behind a held text no longer than a finding could be', async () => {
    const said = (delta: Delta): Chunk => chunkOf({ index: 0, delta, finish_reason: null })
    const precise: Detection = { ...key, open: (text, _, from) => Math.max(from, text.search(/(k\d*)?$/)) }
    const chunks = [
      said({ reasoning_content: 'see k1' }),
      ...Array.from('the words', (content) => said({ content })),
      said({ reasoning_content: '23 now' }),
    ]
    const redaction = new Redaction(detectorsOf([precise]))
    const left: [string, unknown][] = []
    const seen: number[] = []
    const out = {
      emit: (chunk: Chunk) => void left.push(...runsOf([chunk])),
      fail: (error: unknown) => expect(error).toBeUndefined(),
      finish: () => {},
    }
    for (const chunk of chunks) {
      redaction.push(chunk, out)
      seen.push(left.length)
    }
    expect(seen).toEqual([1, 1, 1, 1, 1, 1, 1, 9, 10, 11, 12])
    expect(left[1]).toEqual(['reasoning_content', 'k1'])
    expect(left.at(-1)).toEqual(['reasoning_content', '[key] now'])
  })

  test('keeps an empty field that comes with the end, while another text is held', async () => {
    const chunks = [
      chunkOf({ index: 0, delta: { reasoning_content: 'k' }, finish_reason: null }),
      chunkOf({ index: 0, delta: { refusal: '' }, finish_reason: 'stop' }),
    ]
    const { message } = assembled(await redactedStream(chunks)).choices![0]!
    expect(message).toMatchObject({ reasoning_content: 'k', refusal: '' })
  })

  test('keeps several choices apart, chunk by chunk or several in one', async () => {
    await fc.assert(
      fc.asyncProperty(cutText(text), cutText(text), fc.boolean(), async (first, second, together) => {
        const one = first.map(
          (content): ChoiceDelta => ({ index: 0, delta: { content }, finish_reason: null }),
        )
        const two = second.map(
          (content): ChoiceDelta => ({ index: 1, delta: { content }, finish_reason: null }),
        )
        one.push({ index: 0, delta: {}, finish_reason: 'stop' })
        two.push({ index: 1, delta: { content: 'k12' }, finish_reason: 'length' })
        const longest = Math.max(one.length, two.length)
        const chunks = together
          ? Array.from({ length: longest }, (_, i) =>
              chunkOf(...[one[i], two[i]].filter((choice) => choice !== undefined)),
            )
          : Array.from({ length: longest }, (_, i) =>
              [one[i], two[i]].flatMap((c) => (c ? [chunkOf(c)] : [])),
            ).flat()
        isSame(assembled(await redactedStream(chunks)), assembled(chunks))
      }),
    )
  })

  test('says what the redacted whole says for legacy completions', async () => {
    await fc.assert(
      fc.asyncProperty(cutText(text), async (parts) => {
        const chunks = parts.map((text, i) => {
          const finish_reason = i === parts.length - 1 ? 'stop' : null
          return Chunk.of({
            id: 'c',
            object: 'text_completion',
            choices: [{ index: 0, text, finish_reason }],
          })
        })
        isSame(assembled(await redactedStream(chunks)), assembled(chunks))
      }),
    )
  })

  test('lets go of what it holds at the end of a stream that never finishes its choice', async () => {
    const streamed = await redactedStream([
      chunkOf({ index: 0, delta: { content: 'x k12' }, finish_reason: null }),
    ])
    expect(assembled(streamed).choices?.[0]?.message?.content).toBe('x k12')
  })

  test('sends what is held before the finish, which comes once and last', async () => {
    const streamed = await redactedStream([
      chunkOf({ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }),
      chunkOf({ index: 0, delta: { content: 'see k1' }, finish_reason: null }),
      chunkOf({ index: 0, delta: { content: '23' }, finish_reason: 'stop' }),
      Chunk.of({ ...head, choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }),
    ])
    expect(choicesOf(streamed).map(({ delta, finish_reason }) => [delta?.content, finish_reason])).toEqual([
      ['', null],
      ['see [key]', 'stop'],
    ])
    expect(streamed.at(-1)?.data.usage?.total_tokens).toBe(2)
  })

  test('keeps usage that comes in the chunk whose text is held', async () => {
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    const chunk = Chunk.of({
      ...head,
      choices: [{ index: 0, delta: { content: 'k1' }, finish_reason: 'stop' }],
      usage,
    })
    const streamed = await redactedStream([chunk])
    expect(streamed.filter(({ data }) => data.usage)).toHaveLength(1)
    expect(assembled(streamed).choices?.[0]?.message?.content).toBe('k1')
  })

  test('keeps the bytes of chunks in which nothing is found or held', async () => {
    const precise: Detection = { ...key, open: (text, _, from) => Math.max(from, text.search(/(k\d*)?$/)) }
    const chunks = ['Hello', ' wor', 'ld.'].map((content) =>
      chunkOf({ index: 0, delta: { content }, finish_reason: null }),
    )
    chunks.push(chunkOf({ index: 0, delta: {}, finish_reason: 'stop' }))
    expect(await redactedStream(chunks, [precise])).toEqual(chunks)
    expect((await redactedStream(chunks, [precise]))[0]).toBe(chunks[0])
  })

  test('keeps the opening of a tool call though its arguments are held', async () => {
    const call = {
      index: 0,
      id: 'call_1',
      type: 'function',
      function: { name: 'send', arguments: '{"to":"a' },
    } as const
    const streamed = await redactedStream([
      chunkOf({
        index: 0,
        delta: { role: 'assistant', content: null, tool_calls: [call] },
        finish_reason: null,
      }),
      chunkOf({ index: 0, delta: toolDelta(0)('@b'), finish_reason: null }),
      chunkOf({ index: 0, delta: toolDelta(0)('"}'), finish_reason: null }),
      chunkOf({ index: 0, delta: {}, finish_reason: 'tool_calls' }),
    ])
    expect(choicesOf(streamed)[0]?.delta?.tool_calls?.[0]).toMatchObject({
      id: 'call_1',
      function: { name: 'send' },
    })
    expect(assembled(streamed).choices?.[0]?.message?.tool_calls).toEqual([
      { id: 'call_1', type: 'function', function: { name: 'send', arguments: '{"to":"\\"mail\\""}' } },
    ])
  })

  test('finds what nested and unknown fields say, and leaves signatures alone', async () => {
    const details = (text: string, signature?: string) => ({
      reasoning_details: [{ index: 0, type: 'reasoning.text', text, signature }],
    })
    const chunks = [
      chunkOf({ index: 0, delta: details('k1'), finish_reason: null }),
      chunkOf({ index: 0, delta: { ...details('23', 'k12345'), novelty: 'a@' }, finish_reason: null }),
      chunkOf({ index: 0, delta: { novelty: 'b', annotations: [{ note: 'k123' }] }, finish_reason: null }),
      chunkOf({ index: 0, delta: {}, finish_reason: 'stop' }),
    ]
    const said = JSON.stringify(assembled(await redactedStream(chunks)))
    expect(said).toContain('"text":"[key]"')
    expect(said).toContain('"novelty":"\\"mail\\""')
    expect(said).toContain('"note":"[key]"')
    expect(said).toContain('"signature":"k12345"')
  })

  test('drops the log probabilities of what was replaced, and keeps the others with their text', async () => {
    const spoken = (content: string): Chunk =>
      chunkOf({
        index: 0,
        delta: { content },
        logprobs: { content: [{ token: content }] },
        finish_reason: null,
      })
    const chunks = ['Hello ', 'k1', '23', ' and ', 'bye'].map(spoken)
    chunks.push(chunkOf({ index: 0, delta: {}, finish_reason: 'stop' }))
    const [choice] = assembled(await redactedStream(chunks)).choices as [Choice]
    expect(choice.message?.content).toBe('Hello [key] and bye')
    expect(choice.logprobs).toEqual({ content: [{ token: 'Hello ' }, { token: ' and ' }, { token: 'bye' }] })
    const message: Message = { role: 'assistant', content: 'k123' }
    const whole: Completion = {
      choices: [{ index: 0, message, logprobs: { content: [] }, finish_reason: 'stop' }],
    }
    const redacted = redactReply(whole, detectorsOf([key])) as Completion
    expect(redacted.choices?.[0]?.logprobs).toBeNull()
  })

  test('drops those that come without a text, as nobody can tell what they spell', async () => {
    const chunks = [
      chunkOf({ index: 0, delta: { content: 'It is k123.' }, finish_reason: null }),
      chunkOf({ index: 0, delta: {}, logprobs: { content: [{ token: 'k123' }] }, finish_reason: null }),
      chunkOf({ index: 0, delta: {}, finish_reason: 'stop' }),
    ]
    const streamed = await redactedStream(chunks)
    expect(JSON.stringify(streamed.map(({ data }) => data))).not.toContain('k123')
    expect(assembled(streamed).choices?.[0]?.message?.content).toBe('It is [key].')
  })

  test('finds what choices and answers tell beside their texts, as in the whole', async () => {
    const grounding_metadata = {
      groundingSupports: [{ segment: { text: 'It is k123.' } }],
      webSearchQueries: ['k1234'],
    }
    const chunks = [
      chunkOf({ index: 0, delta: { content: 'It is k123.' }, finish_reason: null }),
      chunkOf({
        index: 0,
        delta: {},
        grounding_metadata,
        native_finish_reason: 'k123',
        finish_reason: 'stop',
      }),
      Chunk.of({ ...head, choices: [], search_results: [{ title: 'k123' }], citations: ['k123'] }),
    ]
    const streamed = assembled(await redactedStream(chunks))
    isSame(streamed, assembled(chunks))
    expect(streamed).toMatchObject({
      search_results: [{ title: '[key]' }],
      citations: ['[key]'],
      choices: [
        {
          native_finish_reason: 'k123',
          grounding_metadata: {
            groundingSupports: [{ segment: { text: 'It is [key].' } }],
            webSearchQueries: ['[key]'],
          },
        },
      ],
    })
  })

  test('drops them late in a long text as it does at its beginning', async () => {
    const parts = Array.from({ length: 400 }, (_, n) =>
      n % 40 === 39 ? ['k1', '23', ' '] : [`word${n} `],
    ).flat()
    const chunks = parts.map((content) =>
      chunkOf({
        index: 0,
        delta: { content },
        logprobs: { content: [{ token: content }] },
        finish_reason: null,
      }),
    )
    const [choice] = assembled(await redactedStream(chunks)).choices as [Choice]
    expect(choice.message?.content).toBe(parts.join('').replaceAll('k123', '[key]'))
    const { content } = choice.logprobs as { content: readonly { readonly token: string }[] }
    expect(content.map(({ token }) => token)).toEqual(parts.filter((part) => part !== 'k1' && part !== '23'))
  })

  test('counts findings in one note for each kind, under the module that found them', async () => {
    const call = callWith()
    const entry = entryOf('guard', { detect: { reply: key } })
    const chunks = [chunkOf({ index: 0, delta: { content: 'k123 k1234 ' }, finish_reason: 'stop' })]
    await passed(chunks, new Redaction([new Detector(entry, { ...key, verdict: 'masked' }, call)]))
    expect(call.trace.notes).toEqual([
      {
        module: 'guard',
        verdict: 'masked',
        detail: { label: 'k\\d{3,5}(?!\\d)', direction: 'reply', count: 2 },
      },
    ])
    expect(entry.meter.hooks.get('detect')?.calls).toBe(1)
  })
})

describe('a stream in which a finding blocks', () => {
  const blocking = detectionOf([{ pattern: /k\d{3}/, replacement: '' }], { reach: 4, action: 'block' })

  test('ends with the refusal of its module before anything of the finding has left', async () => {
    const call = callWith()
    const entry = entryOf('guard', { detect: { reply: blocking } })
    const seen: Chunk[] = []
    const chunks = ['fine so far, k', '1', '23 never', ' this'].map((content) =>
      chunkOf({ index: 0, delta: { content }, finish_reason: null }),
    )
    const stream = filterStream(oneByOne(chunks), [new Redaction([new Detector(entry, blocking, call)])])
    const reading = (async () => {
      for await (const batch of stream) seen.push(...batch)
    })()
    const error = await reading.then(
      () => undefined,
      (error: GatewayError) => error,
    )
    expect(error).toMatchObject({ code: 'bad_request', type: 'content_blocked', module: 'guard' })
    expect(entry.meter.refusals).toBe(1)
    expect(assembled(seen).choices?.[0]?.message?.content).toBe('fine so far')
  })

  test('stays blocked when the answer is ended from before it while it still holds text', async () => {
    const cut: Filter = {
      push(chunk, out) {
        out.emit(chunk)
        if (JSON.stringify(chunk.data).includes('23')) out.finish('length')
      },
    }
    const entry = entryOf('guard', { detect: { reply: blocking } })
    const chunks = ['k1', '23'].map((content) =>
      chunkOf({ index: 0, delta: { content }, finish_reason: null }),
    )
    const redaction = new Redaction([new Detector(entry, blocking, callWith())])
    await expect(passed(chunks, cut, redaction)).rejects.toMatchObject({ module: 'guard' })
  })
})

describe('a detection that fails', () => {
  const failing: Detection = {
    reach: 5,
    scan(text) {
      if (text.includes('!')) throw new TypeError('broken')
      return []
    },
  }
  const chunks = (): Chunk[] => [
    ...['one', ' two!', ' three'].map((content) =>
      chunkOf({ index: 0, delta: { content }, finish_reason: null }),
    ),
    chunkOf({ index: 0, delta: {}, finish_reason: 'stop' }),
  ]

  test('refuses the answer under the policy closed', async () => {
    const entry = entryOf('guard', { detect: { reply: failing } }, { failure: 'closed' })
    await expect(
      passed(chunks(), new Redaction([new Detector(entry, failing, callWith())])),
    ).rejects.toMatchObject({
      code: 'internal_error',
      module: 'guard',
    })
    expect(entry.meter.errors).toBe(1)
  })

  test('is passed over under the policy open, and its neighbours go on', async () => {
    const entry = entryOf('guard', { detect: { reply: failing } }, { failure: 'open' })
    const call = callWith()
    const redaction = new Redaction([new Detector(entry, failing, call), ...detectorsOf([mail], call)])
    const all = chunks()
    all.splice(2, 0, chunkOf({ index: 0, delta: { content: ' a@b' }, finish_reason: null }))
    const streamed = assembled(await passed(all, redaction))
    expect(streamed.choices?.[0]?.message?.content).toBe('one two! "mail" three')
    expect(entry.meter.errors).toBe(1)
    expect(call.trace.notes).toContainEqual({
      module: 'guard',
      verdict: 'failed',
      detail: { hook: 'detect' },
    })
  })
})

test('a chunk without choices, or that is no JSON, does not pass for a failure of the module', async () => {
  const odd = Chunk.fromBytes(Buffer.from('data: {"type":"ping"}\n\n'))
  expect(await redactedStream([odd])).toEqual([odd])
  const garbage = Chunk.fromBytes(Buffer.from('data: {oops\n\n'))
  await expect(redactedStream([garbage])).rejects.toMatchObject({ code: 'provider_error' })
})

test('a source is closed when a filter breaks', async () => {
  let closed = false
  async function* source(): AsyncGenerator<readonly Chunk[]> {
    try {
      yield [chunkOf()]
      yield [chunkOf()]
    } finally {
      closed = true
    }
  }
  const broken: Filter = {
    push() {
      throw new TypeError('broken')
    },
  }
  await expect(Array.fromAsync(filterStream(source(), [broken]))).rejects.toThrow('broken')
  expect(closed).toBe(true)
})

test('after a refusal nothing more is looked at, said or refused', () => {
  const asked: string[] = []
  const blocking = detectionOf([{ pattern: /k\d{3}/, replacement: '' }], { reach: 4, action: 'block' })
  const scan: Detection['scan'] = (text, ...more) => {
    asked.push(text)
    return blocking.scan(text, ...more)
  }
  const redaction = new Redaction(detectorsOf([{ ...blocking, scan }]))
  const emitted: Chunk[] = []
  const refusals: unknown[] = []
  const out = {
    emit: (chunk: Chunk) => void emitted.push(chunk),
    fail: (error: unknown) => void refusals.push(error),
    finish: () => {},
  }
  const push = (content: string): void => redaction.push(chunkOf({ index: 0, delta: { content } }), out)
  push('a k123 b')
  expect(refusals).toHaveLength(1)
  const before = [emitted.length, asked.length]
  push('c k456 d')
  redaction.end(out)
  expect([emitted.length, asked.length]).toEqual(before)
  expect(refusals).toHaveLength(1)
})

test('a detector is told who speaks, in a stream as elsewhere', async () => {
  const places: unknown[] = []
  const scan: Detection['scan'] = (_, place) => {
    places.push(place)
    return []
  }
  await redactedStream(
    [chunkOf({ index: 0, delta: { content: 'abc' }, finish_reason: 'stop' })],
    [{ reach: 2, scan }],
  )
  expect(places.length).toBeGreaterThan(0)
  for (const place of places)
    expect(place).toEqual({ direction: 'reply', role: 'assistant', kind: 'content' })
})

test('a chunk of which all is held does not leave, unless it tells the usage', async () => {
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
  const held = { index: 0, delta: { content: 'k1' } }
  const withUsage = Chunk.of({ ...head, choices: [held], usage })
  const chunks = [chunkOf(held), withUsage, chunkOf({ index: 0, delta: {}, finish_reason: 'stop' })]
  const [first, ...others] = await redactedStream(chunks, [key])
  expect(first!.data).toMatchObject({ choices: [], usage })
  for (const chunk of others) expect(chunk.data.choices.length).toBeGreaterThan(0)
  expect(assembled([first!, ...others])).toMatchObject({ usage, choices: [{ message: { content: 'k1k1' } }] })
})

describe('a chunk with a long text', () => {
  const long = 'k123 and a@b \u{1f511} '.repeat(30_000)
  const said = long.replaceAll('k123', '[key]').replaceAll('a@b', '"mail"')

  test.each(['', 'kept '])(
    'is searched in parts and says the same, with what it says beside it: %s',
    async (before) => {
      let longest = 0
      const watched = both.map(
        (detection): Detection => ({
          ...detection,
          scan(text, ...more) {
            longest = Math.max(longest, text.length)
            return detection.scan(text, ...more)
          },
        }),
      )
      const call = {
        index: 0,
        id: 'c',
        type: 'function' as const,
        function: { name: 'f', arguments: JSON.stringify({ long }) },
      }
      const chunk = Chunk.of({
        object: 'chat.completion.chunk',
        choices: [
          {
            index: 0,
            delta: { role: 'assistant', content: before + long, tool_calls: [call] },
            finish_reason: 'tool_calls',
          },
          { index: 1, delta: { content: 'k123' }, finish_reason: 'stop' },
        ],
        usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
      })
      const [first, second] = assembled(await redactedStream([chunk], watched)).choices as [Choice, Choice]
      // Not as a difference: it would be longer than any terminal.
      expect(first.message?.content === before + said).toBe(true)
      expect(first.message?.tool_calls).toEqual([
        { id: 'c', type: 'function', function: { name: 'f', arguments: JSON.stringify({ long: said }) } },
      ])
      expect([first.finish_reason, second.finish_reason, second.message?.content]).toEqual([
        'tool_calls',
        'stop',
        '[key]',
      ])
      expect(longest).toBeLessThan(long.length / 3)
    },
  )
})

test.each([both, patient])(
  'thousands of tool calls are not all looked at for each of their chunks',
  async (...detections) => {
    const holds = vi.spyOn(Window.prototype, 'holds', 'get')
    const calls = 2000
    const part = (index: number, args: string): Chunk =>
      chunkOf({
        index: 0,
        delta: { tool_calls: [{ index, function: { arguments: args } }] },
        finish_reason: null,
      })
    const chunks = [
      ...Array.from({ length: calls }, (_, i) => part(i, '{"to":"k1')),
      ...Array.from({ length: calls }, (_, i) => part(i, '23 k"}')),
      chunkOf({ index: 0, delta: {}, finish_reason: 'tool_calls' }),
    ]
    const { message } = assembled(await redactedStream(chunks, detections)).choices![0]!
    expect(message?.tool_calls).toHaveLength(calls)
    expect(holds.mock.calls.length).toBeLessThan(4 * chunks.length)
    holds.mockRestore()
  },
)
