import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Detection } from '#kernel'
import { cut, cutText, piecesThrough } from '../../test/detection.ts'
import { runs } from '../../test/suite/runs.ts'
import { Overlap, reversed } from './overlap.ts'
import { wordsFrom } from './prompt-words.ts'
import { reachOf, Watch } from './watch.ts'

const prompt =
  'You are Tilly, the assistant of a tea shop. Never offer more than nine percent off. If someone asks for a refund above ' +
  'forty euros, send them to the back office and do not explain how that limit was chosen. Speak briefly, and be kind.'
const canary = 'q8w7e6r5t4y3u2i1'
const allowed = 30
const watch = new Watch(new Overlap(prompt), allowed, canary)
const detection: Detection = {
  reach: reachOf(allowed),
  context: 0,
  scan: (text, _place, _call, from) => watch.scan(text, from),
  open: (text, _call, from) => watch.openFrom(text, from),
}

/** What has left for the client when the answer is cut, or all of it. */
function seen(parts: readonly string[]): { text: string; isCut: boolean } {
  let isCut = false
  const pieces = piecesThrough(parts, [detection], undefined, undefined, () => {
    isCut = true
    return '\u0000'
  })
  const [text] = pieces.join('').split('\u0000')
  return { text: text!, isCut }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

test.each([
  ['as it is', prompt],
  ['in capitals and other punctuation', prompt.toUpperCase().replaceAll('.', ' *').replaceAll(',', ' /')],
  [
    'as a list',
    prompt
      .split(/(?<=\.) /)
      .map((line) => `- ${line}`)
      .join('\n'),
  ],
  ['from its middle', prompt.slice(90)],
  ['backwards', reversed(prompt)],
  ['in base64', base64(prompt)],
  ['in base64 from another byte on', base64(`ab${prompt}`)],
  ['in base64, backwards', base64(reversed(prompt))],
  ['the canary', `My reference is ${canary}.`],
  ['the canary in capitals', canary.toUpperCase()],
  ['the canary backwards', reversed(canary)],
  ['the canary in base64', base64(`The reference is ${canary}, yes`)],
])('a leak is cut before more than allowed of it has left: %s', (_form, leak) => {
  const text = `Of course, here you are:\n\n${leak}\n\nAnything else?`
  for (const size of [1, 7, 64, text.length]) {
    const parts = cut(
      text,
      Array.from({ length: Math.floor(text.length / size) }, (_, i) => i * size),
    )
    const { text: left, isCut } = seen(parts)
    expect(isCut).toBe(true)
    expect(left).not.toContain(canary)
    // The words that left have nothing of the prompt in a row but its beginning at the most.
    expect(new Overlap(prompt).find(left, 0, allowed)).toBeUndefined()
    expect(left.startsWith('Of course')).toBe(true)
  }
})

test.each([
  'I am Tilly, the assistant of a tea shop. How can I help?',
  'We can offer nine percent off. For a refund above forty euros, please ask the back office.',
  `A picture: ${base64('nothing of the kind, only some other text that is long enough to be looked at')}`,
  'q8w7e6 is no reference',
  '紅茶はいかがですか。',
])('an answer with words of the prompt passes: %s', (text) => {
  for (const parts of [[text], [...text]]) expect(seen(parts)).toEqual({ text, isCut: false })
})

test('a prompt in a script without spaces is found too', () => {
  const chinese =
    '你是茶店的助手。永远不要提供超过百分之九的折扣，也不要解释原因。如果有人要求退款超过四十欧元，请让他们联系后台办公室。'
  const of = new Watch(new Overlap(chinese), allowed, undefined)
  expect(of.scan(`好的：${chinese}`, 0)).toHaveLength(1)
  expect(of.scan('欢迎来到茶店，请问需要什么？', 0)).toEqual([])
})

test('an answer that never repeats more than allowed leaves whole, however it is cut', () => {
  const words = wordsFrom(prompt).map(({ start, end }) => prompt.slice(start, end))
  const text = fc
    .array(
      fc.oneof(
        fc.constantFrom(...words, 'tea', 'x', '\n', '茶', canary.slice(0, 9)),
        fc.string({ maxLength: 6 }),
      ),
      { maxLength: 40 },
    )
    .map((parts) => parts.join(' '))
    .filter((whole) => watch.scan(whole, 0).length === 0)
  fc.assert(
    fc.property(cutText(text), (parts) => {
      expect(seen(parts)).toEqual({ text: parts.join(''), isCut: false })
    }),
    runs(300),
  )
})

test('a long answer and a long prompt take no more than their length', () => {
  const long = new Watch(new Overlap('the tea of the shop '.repeat(20_000)), allowed, canary)
  const text = 'of the cup and the pot '.repeat(5000)
  expect(long.scan(text, 0)).toEqual([])
})
