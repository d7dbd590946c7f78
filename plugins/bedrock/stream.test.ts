import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isUpstreamError } from '../../kit/errors.ts'
import { runs } from '../../test/suite/runs.ts'
import { translation } from '../../test/translation.ts'
import { eventFrame, exceptionFrame, frame } from '../../test/upstream/bedrock/frames.ts'
import { FrameSplitter } from './frames.ts'
import manifest from './manifest.json' with { type: 'json' }
import { bedrockProtocol } from './protocol.ts'

const model = 'anthropic.claude-sonnet-4-5-20250929-v1:0'
const { call, target } = translation(manifest as Parameters<typeof translation>[0], { model })
const head = { status: 200, headers: { 'x-amzn-requestid': 'r' } }

const delta = (contentBlockIndex: number, fields: object): Uint8Array =>
  eventFrame('contentBlockDelta', { delta: fields, contentBlockIndex })

const recorded = Buffer.concat([
  eventFrame('messageStart', { role: 'assistant' }),
  delta(0, { reasoningContent: { text: 'Größe 😀' } }),
  delta(0, { reasoningContent: { signature: 'Sig==' } }),
  eventFrame('contentBlockStop', { contentBlockIndex: 0 }),
  delta(1, { text: 'Let me “see”.' }),
  delta(1, { text: ' 😀' }),
  eventFrame('contentBlockStop', { contentBlockIndex: 1 }),
  eventFrame('contentBlockStart', {
    start: { toolUse: { toolUseId: 't1', name: 'weather' } },
    contentBlockIndex: 2,
  }),
  delta(2, { toolUse: { input: '{"city":"Kö' } }),
  delta(2, { toolUse: { input: 'ln"}' } }),
  eventFrame('contentBlockStop', { contentBlockIndex: 2 }),
  eventFrame('somethingNew', { a: 1 }),
  eventFrame('messageStop', { stopReason: 'tool_use' }),
  eventFrame('metadata', { usage: { inputTokens: 3, outputTokens: 4 } }),
])

/** What the bytes come to, cut at these places. */
function decoded(bytes: Buffer, cuts: readonly number[] = []): unknown[] {
  const decoder = bedrockProtocol(fetch).decoder(head, call, target)
  const bounds = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
  const pieces = bounds.slice(1).map((end, i) => bytes.subarray(bounds[i], end))
  const chunks = [...pieces.flatMap((piece) => [...decoder.push(piece)]), ...decoder.end()]
  return chunks.map((chunk) => ({ ...chunk.data, created: 0 }))
}

describe('a stream', () => {
  it('is the same at every cut', () => {
    const whole = decoded(recorded)
    expect(whole).toHaveLength(10)
    for (let cut = 0; cut <= recorded.length; cut += 1) expect(decoded(recorded, [cut])).toEqual(whole)
    expect(decoded(recorded, [...recorded.keys()])).toEqual(whole)
    const cuts = fc.array(fc.nat({ max: recorded.length }), { maxLength: 12 })
    fc.assert(
      fc.property(cuts, (at) => {
        expect(decoded(recorded, at)).toEqual(whole)
      }),
    )
  })

  it('with any byte changed is refused, and never waited for or believed', () => {
    fc.assert(
      fc.property(fc.nat({ max: recorded.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, bits) => {
        const broken = Buffer.from(recorded)
        broken[at]! ^= bits
        expect(() => decoded(broken)).toThrow(/not an event stream/)
      }),
      runs(500),
    )
  })

  it('that ends before the message does is no answer, wherever it ends', () => {
    const stop = recorded.indexOf('messageStop')
    fc.assert(
      fc.property(fc.nat({ max: stop }), (end) => {
        expect(() => decoded(recorded.subarray(0, end))).toThrow(/middle of the answer/)
      }),
    )
  })

  it('of whatever bytes ends in an error of the provider’s, at once', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), (bytes) => {
        expect(failureOf(() => decoded(Buffer.from(bytes)))).toBe(true)
      }),
      runs(500),
    )
  })

  it('of sound messages in whatever order never fails but as the provider’s failure', () => {
    const index = fc.nat({ max: 2 })
    const message = fc.oneof(
      fc.constant(eventFrame('messageStart', { role: 'assistant' })),
      fc.constant(eventFrame('messageStop', { stopReason: 'end_turn' })),
      fc.constant(eventFrame('metadata', {})),
      fc.constant(exceptionFrame('internalServerException', {})),
      fc.constant(frame({ ':message-type': 'error', ':error-code': 'x' })),
      index.map((contentBlockIndex) => eventFrame('contentBlockStop', { contentBlockIndex })),
      index.map((contentBlockIndex) =>
        eventFrame('contentBlockStart', {
          start: { toolUse: { toolUseId: 'i', name: 'n' } },
          contentBlockIndex,
        }),
      ),
      index.map((i) => delta(i, { toolUse: { input: '{}' } })),
      index.map((i) => delta(i, { text: 'a' })),
      fc.json().map((json) => eventFrame('contentBlockDelta', { delta: JSON.parse(json) as object })),
    )
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), (messages) => {
        failureOf(() => decoded(Buffer.concat(messages)))
      }),
      runs(500),
    )
  })
})

describe('a message', () => {
  const sealed = (length: number, headersLength: number): Buffer => {
    const prelude = Buffer.alloc(12)
    prelude.writeUInt32BE(length, 0)
    prelude.writeUInt32BE(headersLength, 4)
    prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
    return prelude
  }

  it.each([
    ['shorter than it must be', 15, 0],
    ['longer than anybody sends', 2 ** 31, 0],
    ['shorter than its headers', 40, 30],
  ])('that says it is %s is refused before its bytes have come', (_, length, headersLength) => {
    expect(() => [...new FrameSplitter().push(sealed(length, headersLength))]).toThrow(RangeError)
  })

  it('is read whatever the types of its headers, which must end in their place', () => {
    const headers = Buffer.concat([
      ...[0, 1].map((type) => Buffer.from([1, 97, type])),
      ...[
        [2, 1],
        [3, 2],
        [4, 4],
        [5, 8],
        [8, 8],
        [9, 16],
      ].map(([type, length]) => Buffer.concat([Buffer.from([1, 98, type!]), Buffer.alloc(length!)])),
      Buffer.from([1, 99, 6, 0, 2, 1, 2]),
      Buffer.from([1, 100, 7, 0, 1, 120]),
    ])
    const message = (bytes: Buffer): Buffer => {
      const length = 16 + bytes.length
      const open = Buffer.concat([sealed(length, bytes.length), bytes])
      const end = Buffer.alloc(4)
      end.writeUInt32BE(crc32(open))
      return Buffer.concat([open, end])
    }
    const [read] = new FrameSplitter().push(message(headers))
    expect([...read!.headers]).toEqual([['d', 'x']])
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        try {
          for (const _ of new FrameSplitter().push(message(Buffer.from(bytes))));
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError)
        }
      }),
    )
  })
})

/** Whether it fails, which it may do as the provider's failure only. */
function failureOf(run: () => unknown): boolean {
  try {
    run()
    return false
  } catch (error) {
    if (!isUpstreamError(error)) throw error
    return true
  }
}
