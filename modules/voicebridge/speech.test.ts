import fc from 'fast-check'
import { expect, test } from 'vitest'
import { languageDetector } from '#kit'
import type { SpokenLanguage } from './expand.ts'
import { Speech, type SpeechOptions } from './speech.ts'

const speech = (options: Partial<SpeechOptions> = {}) =>
  new Speech({ format: 'text', language: 'en', languageOf: undefined, ...options })
const said = (text: string, language: SpokenLanguage | 'other' = 'en'): string =>
  speech({ language: language === 'other' ? undefined : language })
    .end(text)
    .join('')

test.each([
  [
    'It is 5 km, e.g. 3.5 m or 1 km long.',
    'It is five kilometers, for example three point five meters or one kilometer long.',
  ],
  [
    'In 1998, 2024 and 1905: 1,234.56.',
    'In nineteen ninety-eight, twenty twenty-four and nineteen oh five: one thousand two hundred thirty-four point five six.',
  ],
  ['In the 1990s and the 80s.', 'In the nineteen nineties and the eighties.'],
  [
    '$3.50, $5 million, €20, 3.50 € or £1.',
    'three dollars and fifty cents, five million dollars, twenty euros, three euros and fifty cents or one pound.',
  ],
  [
    'Pages 3-5, 10–20%, GPT-4 and GPT-4o.',
    'Pages three to five, ten to twenty percent, GPT-four and GPT-4o.',
  ],
  ['Call 555-123-4567.', 'Call five five five, one two three, four five six seven.'],
  [
    'At 17:30, 5:00 and 09:05 on 2024-05-17.',
    "At seventeen thirty, five o'clock and nine oh five on May seventeenth, twenty twenty-four.",
  ],
  [
    'C# or C++ #5 & more -> x >= 3, a < b.',
    'C sharp or C plus plus number five and more to x is at least three, a is less than b.',
  ],
  ['Version 1.2.3, id 007.', 'Version one point two point three, id zero zero seven.'],
  [
    '-5 °C and 1st place, 100% sure.',
    'minus five degrees Celsius and first place, one hundred percent sure.',
  ],
  ['Dr. Kern vs. Mr. Bell etc.', 'Doctor Kern versus Mister Bell and so on.'],
  ['Mail ada@example.com, see https://www.example.com/a/b?c.', 'Mail ada at example.com, see example.com.'],
  ['Fine 😀👍🏽🇩🇪 so[^1] far [2].', 'Fine so far.'],
])('in English %j is said as %j', (text, expected) => expect(said(text)).toBe(expected))

test.each([
  [
    'Es sind 1 km, z. B. 3,5 m oder 1.234,56 Euro.',
    'Es sind ein Kilometer, zum Beispiel drei Komma fünf Meter oder eintausendzweihundertvierunddreißig Komma fünf sechs Euro.',
  ],
  [
    '1998, 2024: 1.234 Leute.',
    'neunzehnhundertachtundneunzig, zweitausendvierundzwanzig: eintausendzweihundertvierunddreißig Leute.',
  ],
  ['3,50 €, 5 Mio. €, 1 €, 20 %.', 'drei Euro fünfzig, fünf Millionen Euro, ein Euro, zwanzig Prozent.'],
  [
    'Am 3. Mai, der 3. Mai, vom 3. bis 5. Mai.',
    'Am dritten Mai, der dritte Mai, vom dritten bis fünften Mai.',
  ],
  ['Um 17:30 Uhr oder 1:00 Uhr.', 'Um siebzehn Uhr dreißig oder ein Uhr.'],
  ['Dr. Kern bzw. Nr. 5 usw.', 'Doktor Kern beziehungsweise Nummer fünf und so weiter.'],
  ['§ 5 Abs. 3, ca. 5 kWh & 1 h.', 'Paragraf fünf Absatz drei, circa fünf Kilowattstunden und eine Stunde.'],
  ['Version 1.2.3 bei -5 °C.', 'Version eins Punkt zwei Punkt drei bei minus fünf Grad Celsius.'],
])('in German %j is said as %j', (text, expected) => expect(said(text, 'de')).toBe(expected))

/** What answers are made of, and what is heard of it. */
const golden: readonly (readonly [markdown: string, heard: string])[] = [
  ['# Title\n\nSome **bold text. More** here\nand on.', 'Title.\nSome bold text. More here and on.'],
  ['- one\n- *two*:\n  - three\n\n3. third\n4. last', 'one.\ntwo:\nthree.\nthree: third.\nfour: last.'],
  [
    'Do this:\n```js\nconst a = `x`;\n\n// *b*\n```\nDone',
    'Do this:\nA code example is left out here.\nDone.',
  ],
  ['~~~\nopen', 'A code example is left out here.'],
  ['| a | b |\n|---|:-:|\n| 1 | *2* |\n| | `x_y` |\n\nEnd', 'a: one, b: two. a, b: x y.\nEnd.'],
  ['> quote\n\n---\n\nEnd ![a picture](i.png) <b>x</b>', 'quote.\nEnd a picture x.'],
  ['Setext\n===\n\na\\*b \\_ c ~~gone~~ ***all***', 'Setext.\na b c gone all.'],
  ['See [the **page**. Or not](https://example.com/a_b) and `a_b*c`.', 'See the page. Or not and a b c.'],
  ['- [ ] open\n- [x] done', 'open.\ndone.'],
  ['a | b\n--|--\n1 | 2', 'a b one two.'],
  ['Half **open and `so', 'Half open and so.'],
  ['***\n\n___', ''],
]

test.each(golden)('of %j no mark is heard', (markdown, heard) => expect(said(markdown)).toBe(heard))

test('no character of Markdown is left in the golden set, in any language', () => {
  for (const [markdown] of golden)
    for (const language of ['en', 'de', 'other'] as const)
      expect(said(markdown, language)).not.toMatch(/[*_`#~|<>[\]{}\\^]|--|==/)
})

test('of other languages only the Markdown goes', () => {
  expect(said('Il y a **5 km** & plus', 'other')).toBe('Il y a 5 km & plus.')
})

test('the language is that of the answer, and short sentences do not change it', async () => {
  const auto = speech({ languageOf: await languageDetector() })
  const text =
    'It is 5 km. Die Entfernung beträgt auf dem kürzesten Weg ungefähr 5 km. Nur 5 km. La distance est environ de 5 km par le chemin le plus court.'
  expect(auto.end(text)).toEqual([
    'It is five kilometers.',
    ' Die Entfernung beträgt auf dem kürzesten Weg ungefähr fünf Kilometer.',
    ' Nur fünf Kilometer.',
    ' La distance est environ de 5 km par le chemin le plus court.',
  ])
})

test('SSML has an element for each sentence, and text stays text', () => {
  const ssml = speech({ format: 'ssml', language: undefined })
  expect(ssml.end('Say "a & b" \u0007now. `</s>` ends.').join('')).toBe(
    '<speak><s>Say &quot;a &amp; b&quot; now.</s><s>/s ends.</s></speak>',
  )
  expect(speech({ format: 'ssml' }).end('***').join('')).toBe('<speak></speak>')
})

const word = fc.constantFrom(
  ...[
    'Word',
    ' ',
    '. ',
    '.',
    '? ',
    '\n',
    '\n\n',
    '# ',
    '- ',
    '1. ',
    '12',
    '> ',
    '**',
    '*',
    '`',
    '```',
    '~~~',
    '|',
    '| a | b |\n',
    '|--|--|\n',
  ],
  ...['[', '](', ')', '$5', ' km', 'e.g.', '😀', '<b>', '&amp;', '\\', '---', '===', '  ', '。', 'Satz'],
)
const texts = fc.array(
  fc.array(word, { maxLength: 6 }).map((words) => words.join('')),
  { maxLength: 8 },
)

test('an answer sounds the same however it arrives', () => {
  for (const format of ['text', 'ssml'] as const)
    fc.assert(
      fc.property(texts, (parts) => {
        const whole = parts.join('')
        const expected = speech({ format }).end(whole)
        const streamed = speech({ format })
        expect([...parts.flatMap((part) => streamed.push(part)), ...streamed.end('')]).toEqual(expected)
        const letters = speech({ format })
        expect([...whole.split('').flatMap((one) => letters.push(one)), ...letters.end('')]).toEqual(expected)
      }),
      { examples: [[['> 1. ', '~~~']], [['> > - ', '``', '`\ncode']]] },
    )
})

test('each part is a sentence with its end, and without a mark of Markdown', () => {
  fc.assert(
    fc.property(texts, (parts) => {
      for (const part of speech().end(parts.join(''))) {
        expect(part).toMatch(/[.!?…:;。！？][)"'”’»」』]*$/)
        expect(part).not.toMatch(/[*_`#~|<>[\]{}\\^]/)
      }
    }),
  )
})

test('hostile answers are said in time that grows with their length', () => {
  for (const mark of [
    '>',
    '- ',
    '*',
    '_',
    '[',
    '`',
    '|a',
    '> - ',
    '![',
    '<a ',
    '1. ',
    '|a|\n',
    '&',
    '1-',
    '1.',
    '(',
    ' ',
  ])
    expect(said(mark.repeat(20_000))).not.toContain('*')
})
