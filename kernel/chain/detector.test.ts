import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { callWith, entryOf } from '../../test/chain.ts'
import { content } from '../../test/scanning.ts'
import type { Detection, Span } from '../detect/detect.ts'
import { Detector } from './detector.ts'
import type { Entry } from './entry.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const span: Span = { start: 2, end: 5, label: 'key', action: 'replace', replacement: '[key]' }

function detecting(more: Partial<Detection> = {}, entry: Partial<Entry> = {}, call = callWith()) {
  const detection: Detection = { reach: 4, scan: () => [span], ...more }
  const module = entryOf('guard', { detect: { reply: detection } }, { failure: 'open', ...entry })
  return { call, module, detector: new Detector(module, detection, call) }
}

describe('a finding', () => {
  test.each<[Span['action'], string, string, string]>([
    ['replace', 'redacted', 'redact', 'medium'],
    ['block', 'blocked', 'block', 'high'],
    ['note', 'flagged', 'warn', 'low'],
  ])('of the action %s is noted and told', (action, verdict, told, severity) => {
    const { call, detector } = detecting()
    detector.report({ ...span, action }, content, 10)
    expect(call.trace.notes).toMatchObject([
      { module: 'guard', verdict, detail: { label: 'key', direction: 'reply', count: 1 } },
    ])
    expect(call.trace.findings).toEqual([
      {
        module: 'guard',
        type: 'custom',
        severity,
        action: told,
        direction: 'reply',
        label: 'key',
        count: 1,
        spans: [{ role: 'assistant', kind: 'content', start: 12, end: 15 }],
      },
    ])
  })

  test('is told with what its detection says of it, and counted with those that are alike', () => {
    const { call, detector } = detecting({ verdict: 'masked' }, { finds: 'secret' })
    const more = { ...span, severity: 'critical', ruleId: 'r1', confidence: 0.5 } as const
    detector.report(more, { ...content, origin: 'tool' }, 0)
    detector.report(more, content, 0)
    expect(call.trace.notes).toMatchObject([{ verdict: 'masked', detail: { count: 2 } }])
    expect(call.trace.findings).toMatchObject([
      {
        type: 'secret',
        severity: 'critical',
        ruleId: 'r1',
        confidence: 0.5,
        count: 2,
        spans: [
          { role: 'assistant', kind: 'content', origin: 'tool', start: 2, end: 5 },
          { role: 'assistant', kind: 'content', start: 2, end: 5 },
        ],
      },
    ])
  })

  test('is told to its module, whose failure over it is its own', () => {
    const heard: unknown[] = []
    const { call, detector } = detecting({ found: (...told) => void heard.push(...told) })
    detector.report(span, content, 0)
    expect(heard).toEqual([span, content, call])
    const broken = detecting({
      found() {
        throw new Error('no')
      },
    })
    broken.detector.report(span, content, 0)
    expect(broken.module.meter.events).toMatchObject([{ kind: 'failed', detail: 'detect: Error' }])
  })

  test('in what is shown to the client alone was found before, and is only noted', () => {
    const reveal: Detection = { reach: 4, scan: () => [span] }
    const call = callWith()
    new Detector(entryOf('guard', { reveal }), reveal, call).report(span, content, 0)
    expect(call.trace.findings).toEqual([])
    expect(call.trace.notes).toHaveLength(1)
  })
})

test('of a detector that failed nothing is asked any more, and nothing is held back', () => {
  let asked = 0
  const { call, detector, module } = detecting({
    scan() {
      asked += 1
      throw new Error('no')
    },
    open() {
      asked += 1
      return 0
    },
  })
  expect(detector.settled('a long text', 0)).toBe(7)
  for (let n = 0; n < 2; n++) expect(detector.scan('a long text', content, 0)).toEqual([])
  expect(detector.settled('a long text', 0)).toBe('a long text'.length)
  detector.report(span, content, 0)
  expect([asked, module.meter.errors]).toEqual([2, 1])
  expect(call.trace.notes.map(({ verdict }) => verdict)).toEqual(['failed', 'redacted'])
})

test.each<[string, Partial<Detection>, number, number]>([
  ['as much as it reaches', {}, 0, 6],
  ['nothing that has left', {}, 8, 8],
  ['less than it reaches, where it says so', { open: () => 9 }, 0, 9],
  ['no more than it reaches', { open: () => 1 }, 0, 6],
  ['nothing, where it says no index', { open: () => 'here' as never }, 0, 10],
])('a detection holds back %s', (_, detection, from, settled) => {
  expect(detecting(detection).detector.settled('0123456789', from)).toBe(settled)
})

test("the time it takes is its module's, in one run, however it ends", () => {
  const slowly = (ms: number) => void vi.advanceTimersByTime(ms)
  const { call, detector, module } = detecting({
    scan() {
      slowly(5)
      return [span]
    },
    found() {
      slowly(2)
      throw new Error('no')
    },
  })
  slowly(100)
  detector.scan('a text', content, 0)
  slowly(100)
  detector.report(span, content, 0)
  detector.settle()
  expect(call.trace.timings).toEqual([{ module: 'guard', hook: 'detect', ms: 7 }])
  expect([...module.meter.hooks]).toEqual([['detect', { calls: 1, totalMs: 7 }]])
})

test("the refusal of a finding is its module's, in the words of its detection", () => {
  const { detector, module } = detecting({ refusal: 'No keys.' })
  expect(() => detector.refuse(span)).toThrow(
    expect.objectContaining({
      code: 'bad_request',
      message: 'No keys.',
      module: 'guard',
      details: { found: 'key' },
    }),
  )
  expect([module.meter.refusals, module.meter.errors]).toEqual([1, 0])
  expect(detecting().detector.refusal(span).message).toContain('it contains key')
})
