import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import { atOnce, type Step, scheduled, stepsOf, textOf } from './pace.ts'

const answer = (content: string) => ({
  choices: [{ index: 0, message: { role: 'assistant' as const, content }, finish_reason: 'stop' as const }],
})

const steps = fc
  .array(fc.tuple(fc.nat({ max: 500 }), fc.nat({ max: 20 })), { minLength: 1, maxLength: 20 })
  .map((parts) => {
    let [ms, characters] = [0, 0]
    return parts.map(([later, more]): Step => {
      ms += later
      characters += more
      return [ms, characters]
    })
  })

const textIn = (chunks: ReturnType<typeof scheduled>): string =>
  chunks.map(({ chunk }) => chunk.data.choices[0]?.delta?.content ?? '').join('')

test('whatever the pace, the whole text comes, in order, and ends when the recorded answer did', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 300 }), steps, (text, pace) => {
      const chunks = scheduled(answer(text), pace)
      expect(textIn(chunks)).toBe(text)
      const times = chunks.map(({ ms }) => ms)
      expect(times).toEqual(times.toSorted((a, b) => a - b))
      expect(times.at(-1)).toBe(pace.at(-1)![0])
    }),
    runs(300),
  )
})

test('the parts are those of the recorded answer, and none comes earlier', () => {
  fc.assert(
    fc.property(steps, (pace) => {
      const [, length] = pace.at(-1)!
      let come = 0
      for (const { chunk, ms } of scheduled(answer('x'.repeat(length)), pace)) {
        come += chunk.data.choices[0]?.delta?.content?.length ?? 0
        if (come > 0) expect(pace.map(([, characters]) => characters)).toContain(come)
        expect(pace.find(([, characters]) => characters >= come)![0]).toBeLessThanOrEqual(ms)
      }
    }),
    runs(300),
  )
})

test('an answer that lost a secret has as many parts, and one that came whole is whole', () => {
  const lengths = (pace: readonly Step[]) =>
    scheduled(answer('x'.repeat(50)), pace).flatMap(
      ({ chunk }) => chunk.data.choices[0]?.delta?.content?.length || [],
    )
  expect(
    lengths([
      [5, 20],
      [9, 60],
      [11, 80],
      [20, 100],
    ]),
  ).toEqual([10, 20, 10, 10])
  expect(lengths(atOnce(answer('x'.repeat(50)), 12.4))).toEqual([50])
  expect(atOnce(answer('x'.repeat(50)), 12.4)).toEqual([[12, 50]])
})

test('arguments of tools, thoughts and legacy texts are cut alike, and no character is halved', () => {
  const tool = { id: 'call_1', type: 'function' as const, function: { name: 'look', arguments: '{"a":1}' } }
  const message = { role: 'assistant' as const, reasoning_content: 'So.', content: '😀!', tool_calls: [tool] }
  const said = scheduled({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }, [
    [1, 2],
    [2, 4],
    [3, 9],
    [4, 13],
  ])
  const texts = said.flatMap(({ chunk, ms }) => {
    const { reasoning_content, content, tool_calls } = chunk.data.choices[0]?.delta ?? {}
    const text = reasoning_content || content || tool_calls?.[0]?.function?.arguments
    return text ? [[ms, text]] : []
  })
  expect(texts).toEqual([
    [1, 'So'],
    [2, '.'],
    [3, '😀'],
    [3, '!'],
    [3, '{"a'],
    [4, '":1}'],
  ])
  const legacy = {
    object: 'text_completion',
    choices: [{ index: 0, text: 'Lima.', finish_reason: 'stop' as const }],
  }
  const parts = scheduled(legacy, [
    [5, 2],
    [6, 5],
  ]).map(({ chunk, ms }) => [ms, chunk.data.choices[0]?.text])
  expect(parts).toEqual([
    [5, 'Li'],
    [6, 'ma.'],
    [6, ''],
  ])
})

test('a pace is one line, and reads as it was written', () => {
  fc.assert(
    fc.property(steps, (pace) => {
      expect(stepsOf(textOf(pace))).toEqual(pace)
    }),
    runs(100),
  )
  expect(
    textOf([
      [412, 3],
      [440, 18],
    ]),
  ).toBe('412:3 440:18')
})

test.each(['x', '1', '1:2:3', '2:1 1:2', '1:2 2:1', '-1:0', '1.5:1', '1:2  3:4', '1:1e9999'])(
  'what nobody wrote is no pace: %s',
  (text) => {
    expect(stepsOf(text)).toBeUndefined()
  },
)
