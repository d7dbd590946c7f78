import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Chunk } from '../../kit/canonical/chunk.ts'
import { callWith } from '../../test/chain.ts'
import { cutText, detectionOf, detectorsOf } from '../../test/detection.ts'
import { runs } from '../../test/suite/runs.ts'
import { redactReply } from '../chain/redact.ts'
import { Redaction } from '../detect/redaction.ts'
import { filterStream } from '../stream/filter.ts'
import { Findings, type SafetyFinding } from './findings.ts'

const found: SafetyFinding = {
  type: 'pii',
  severity: 'low',
  action: 'log',
  direction: 'request',
  label: 'email',
}

const span = (start: number) => ({ role: 'user', kind: 'content', start, end: start + 1 }) as const

test('findings that are alike are one with their count, their highest confidence and the first places', () => {
  const findings = new Findings()
  for (let n = 0; n < 1000; n += 1)
    findings.add('m', { ...found, spans: [span(n)], confidence: n === 3 ? 0.9 : 0.1 })
  findings.add('m', { ...found, count: 5 })
  findings.add('m', found, 'shadow')
  findings.add('other', found)
  expect(findings.all.map(({ module, count, mode }) => [module, count, mode])).toEqual([
    ['m', 1005, undefined],
    ['m', 1, 'shadow'],
    ['other', 1, undefined],
  ])
  expect(findings.all[0]).toMatchObject({ confidence: 0.9 })
  expect(findings.all[0]!.spans).toEqual(Array.from({ length: 20 }, (_, n) => span(n)))
})

test('nothing is kept of a finding but what a finding is made of', () => {
  const findings = new Findings()
  const spans = [{ ...span(1), text: 'the secret' }]
  findings.add('m', { ...found, spans, match: 'the secret' } as SafetyFinding)
  expect(findings.all).toEqual([{ module: 'm', ...found, spans: [span(1)], count: 1 }])
})

test('a call tells of a hundred kinds by name, and of no more text than a label is long', () => {
  const findings = new Findings()
  for (let n = 0; n < 5000; n += 1) findings.add('m', { ...found, label: `${n} ${'x'.repeat(500)}` })
  expect(findings.all).toHaveLength(101)
  expect(findings.all.at(-1)).toMatchObject({ label: 'other', count: 4900 })
  expect(JSON.stringify(findings.all).length).toBeLessThan(30_000)
})

describe('is none, which is a fault of its module:', () => {
  test.each([
    { type: 'odd' },
    { severity: 1 },
    { action: 'explode' },
    { direction: 'up' },
    { label: undefined },
    { ruleId: 7 },
    { spans: {} },
    { count: 0 },
    { confidence: 'high' },
    { confidence: 2 },
    { spans: [{ role: 'user', kind: 'content', start: 'secret', end: 2 }] },
    { spans: [null] },
  ])('a finding with %j', (odd) => {
    expect(() => callWith().trace.finding('m', { ...found, ...odd } as never)).toThrow(/a finding|of a find/)
  })
})

test('a trace tells the same of a streamed answer as of the whole one, however it was cut', async () => {
  const detections = [
    detectionOf([{ pattern: /k\d{3}/, replacement: '[key]' }], { reach: 4 }),
    detectionOf([{ pattern: /a@b/, replacement: '' }], { reach: 3, action: 'note' }),
  ]
  const part = fc.constantFrom('k123', 'a@b', 'k1', '23', 'x', '"', '🦊', 'a', '@b', ' '.repeat(300))
  const texts = fc.array(part, { maxLength: 20 }).map((parts) => parts.join(''))
  await fc.assert(
    fc.asyncProperty(cutText(texts), fc.boolean(), async (parts, isArguments) => {
      const said = (text: string) =>
        isArguments
          ? {
              tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: text } }],
            }
          : { content: text }
      const whole = callWith()
      const message = { role: 'assistant', ...said(parts.join('')) }
      void redactReply(
        { choices: [{ index: 0, message, finish_reason: 'stop' }] } as never,
        detectorsOf(detections, whole),
      )
      const streamed = callWith()
      async function* chunks() {
        for (const text of parts)
          yield [Chunk.of({ choices: [{ index: 0, delta: said(text), finish_reason: null }] } as never)]
      }
      const redaction = new Redaction(detectorsOf(detections, streamed))
      for await (const _ of filterStream(chunks(), [redaction]));
      const told = ({ trace }: typeof whole) =>
        trace.findings.toSorted((a, b) => a.label.localeCompare(b.label))
      expect(told(streamed)).toEqual(told(whole))
    }),
    runs(200),
  )
})
