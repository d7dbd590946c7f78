import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  content,
  cut,
  cutText,
  detectionOf,
  detectorsOf,
  piecesThrough,
  push,
  redactedWhole,
  toolArguments,
} from '../../test/detection.ts'
import { runs } from '../../test/suite/runs.ts'
import type { Detection } from './detect.ts'
import { Window } from './window.ts'

/** Bounded patterns that overlap, chain, look back and look ahead: everything that can go wrong at a border. */
const pool: readonly Detection[] = [
  detectionOf([{ pattern: /ab{1,3}/, replacement: '<1>' }], { reach: 5 }),
  detectionOf([{ pattern: /(?<![a-c])[a-c]{2,4}(?![a-c])/, replacement: '<2>' }], { reach: 5, context: 1 }),
  detectionOf(
    [
      { pattern: /1[ab]{0,4}1/, replacement: '<3>' },
      { pattern: /b1{1,2}/, replacement: '' },
    ],
    { reach: 7 },
  ),
  detectionOf([{ pattern: /(?<=@ ?)\w{1,6}\b/, replacement: '@@' }], {
    reach: 8,
    context: 3,
    open: (text, _, from) => Math.max(from, text.search(/\w{0,7}$/)),
  }),
  detectionOf([{ pattern: /[^ ]{3,8}(?= |$)/, replacement: 'a long replacement' }], { reach: 9 }),
  detectionOf([{ pattern: /a ?1/, replacement: '<6>' }], {
    reach: 4,
    open: (text, _, from) => Math.max(from, text.search(/(a ?)?$/)),
  }),
  detectionOf([{ pattern: /b/, replacement: 'unused' }], { reach: 2, action: 'note' }),
]

const detections = fc.uniqueArray(fc.constantFrom(...pool), { minLength: 1, maxLength: 4 })
const texts = fc.string({
  unit: fc.constantFrom('a', 'a', 'b', 'c', '1', '@', ' ', 'é', '😀'),
  maxLength: 60,
})

describe('a window', () => {
  test('gives the same for every way of cutting a text, whoever else looks on', () => {
    fc.assert(
      fc.property(detections, cutText(texts), (chosen, parts) => {
        expect(piecesThrough(parts, chosen).join('')).toBe(redactedWhole(parts.join(''), chosen))
      }),
      runs(3000),
    )
  })

  test('gives the same for a text that is there at once, and looks at it once', () => {
    fc.assert(
      fc.property(detections, texts, (chosen, text) => {
        let scans = 0
        const counting = chosen.map((detection): Detection => {
          const scan: Detection['scan'] = (...asked) => {
            scans += 1
            return detection.scan(...asked)
          }
          return { ...detection, scan }
        })
        const window = new Window(detectorsOf(counting), content, () => '')
        expect(window.whole(text)).toBe(redactedWhole(text, chosen))
        expect(scans).toBeLessThanOrEqual(chosen.length)
      }),
      runs(1000),
    )
  })

  test('gives the same for every way of cutting a text much longer than what it remembers', () => {
    const long = fc.array(texts, { minLength: 60, maxLength: 90, size: 'max' }).map((parts) => parts.join(''))
    const sizes = fc.integer({ min: 1, max: 50 })
    fc.assert(
      fc.property(detections, long, sizes, (chosen, text, size) => {
        const places = Array.from({ length: Math.floor(text.length / size) }, (_, i) => (i + 1) * size)
        expect(piecesThrough(cut(text, places), chosen).join('')).toBe(redactedWhole(text, chosen))
      }),
      runs(400),
    )
  })

  test('lets nothing go that any text to come could still change', () => {
    fc.assert(
      fc.property(detections, texts, texts, (chosen, seen, toCome) => {
        const window = new Window(detectorsOf(chosen), content, () => '')
        const released = push(window, seen)
        expect(redactedWhole(seen + toCome, chosen).startsWith(released)).toBe(true)
      }),
      runs(2000),
    )
  })

  test('holds back no more than the longest reach, and half a character', () => {
    fc.assert(
      fc.property(detections, cutText(texts), (chosen, parts) => {
        const reach = Math.max(...chosen.map((detection) => detection.reach))
        const window = new Window(detectorsOf(chosen), content, () => '')
        for (const part of parts) {
          push(window, part)
          expect(window.came - window.left).toBeLessThanOrEqual(reach + 1)
        }
      }),
    )
  })

  test('holds back nothing where no detection is open', () => {
    const open = detectionOf([{ pattern: /a1/, replacement: '' }], {
      reach: 500,
      open: (text, _, from) => Math.max(from, text.search(/a?$/)),
    })
    const window = new Window(detectorsOf([open]), content, () => '')
    expect([
      push(window, 'x'),
      push(window, ' ya'),
      push(window, 'b'),
      push(window, 'a'),
      push(window, '1z'),
    ]).toEqual(['x', ' y', 'ab', '', 'z'])
    expect(window.holds).toBe(false)
  })

  test('never cuts a character in two', () => {
    const far = detectionOf([{ pattern: /zz/, replacement: '' }], { reach: 3 })
    fc.assert(
      fc.property(cutText(fc.string({ unit: fc.constantFrom('😀', 'a'), maxLength: 20 })), (parts) => {
        for (const piece of piecesThrough(parts, [far])) expect(piece.isWellFormed()).toBe(true)
        expect(piecesThrough(parts, [far]).join('')).toBe(parts.join(''))
      }),
    )
  })

  test('shows a detection no more of the past than it asked for, however long the text', () => {
    let most = 0
    const watching: Detection = {
      reach: 10,
      context: 20,
      scan(text) {
        most = Math.max(most, text.length)
        return []
      },
    }
    const window = new Window(detectorsOf([watching]), content, () => '')
    for (let i = 0; i < 5000; i += 1) push(window, 'word ')
    expect(most).toBeLessThan(400)
  })

  test('asks what to do about a finding that blocks, before anything of it leaves', () => {
    const blocking = detectionOf([{ pattern: /secret/, replacement: '' }], { reach: 6, action: 'block' })
    const window = new Window(detectorsOf([blocking]), content, ({ label }) => `[${label}]`)
    expect([push(window, 'a sec'), push(window, 'ret b'), window.end()].join('')).toBe('a [secret] b')
    expect(window.replaced).toEqual([{ start: 2, end: 8 }])
  })

  test('takes away what is found without a replacement', () => {
    const named = { ...detectionOf([{ pattern: /secret/, replacement: '' }], { reach: 6 }) }
    const scan: Detection['scan'] = (...asked) =>
      named.scan(...asked).map(({ replacement: _, ...span }) => span)
    expect(piecesThrough(['a sec', 'ret b'], [{ ...named, scan }]).join('')).toBe('a  b')
  })
})

describe('a window on the arguments of a tool', () => {
  const names = detectionOf([{ pattern: /J(osé|oe)\s?\w?|"quoted"/, replacement: 'a "b"\n\\' }], {
    reach: 10,
  })
  const digits = detectionOf([{ pattern: /(?<!\d)\d{4}(?!\d)/, replacement: '#"#' }], { reach: 6 })

  const values: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
    value: fc.oneof(
      fc.string({
        unit: fc.constantFrom('José', 'J', 'oe', '"', '\\', '\n', '1234', '5', ' ', '😀'),
        maxLength: 8,
      }),
      fc.constantFrom(1234, 12345, -5, -1234, 1234.5, 0.1234, true, null),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('Joe', 'k', '"'), tie('value'), { maxKeys: 3 }),
    ),
  })).value

  /** The same JSON, written with more escapes than it needs. */
  const written = fc.tuple(values, fc.boolean(), fc.boolean()).map(([value, spaces, escapes]) => {
    const json = JSON.stringify(value, null, spaces ? 1 : 0)
    if (!escapes) return json
    return json.replace(/[éJ/]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
  })

  test('gives the same for every way of cutting JSON, and it stays JSON', () => {
    fc.assert(
      fc.property(cutText(written), (parts) => {
        const whole = piecesThrough([parts.join('')], [names, digits], toolArguments).join('')
        expect(piecesThrough(parts, [names, digits], toolArguments).join('')).toBe(whole)
        expect(new Window(detectorsOf([names, digits]), toolArguments, () => '').whole(parts.join(''))).toBe(
          whole,
        )
        expect(() => JSON.parse(whole)).not.toThrow()
      }),
      runs(2000),
    )
  })

  test('gives the same for every way of cutting JSON much longer than what it remembers', () => {
    const long = fc
      .array(values, { minLength: 80, maxLength: 120, size: 'max' })
      .map((all) => JSON.stringify(all).replaceAll('é', '\\u00e9'))
    fc.assert(
      fc.property(long, fc.integer({ min: 1, max: 60 }), (json, size) => {
        const places = Array.from({ length: Math.floor(json.length / size) }, (_, i) => (i + 1) * size)
        const chosen = [names, digits]
        const whole = new Window(detectorsOf(chosen), toolArguments, () => '').whole(json)
        expect(piecesThrough(cut(json, places), chosen, toolArguments).join('')).toBe(whole)
        expect(() => JSON.parse(whole)).not.toThrow()
      }),
    )
  })

  test('remembers no more of long arguments than of other texts', () => {
    let most = 0
    const watching: Detection = {
      reach: 10,
      scan(text) {
        most = Math.max(most, text.length)
        return []
      },
    }
    const window = new Window(detectorsOf([watching]), toolArguments, () => '')
    for (let i = 0; i < 2000; i += 1) push(window, '"w\\u00f6rd", ')
    expect(most).toBeLessThan(400)
  })

  test.each([
    ['no digit', '"\\u00xyJoe"', '"\\u00xya \\"b\\"\\n\\\\"'],
    ['an end', '"\\u00', '"\\u00'],
    ['a letter', '"\\qJoe"', '"\\qa \\"b\\"\\n\\\\"'],
  ])('takes an escape with %s for what it is written as', (_, json, left) => {
    for (const parts of [[json], [...json]])
      expect(piecesThrough(parts, [names], toolArguments).join('')).toBe(left)
  })

  test('puts what it puts in once, however many strings a finding runs over', () => {
    const across = detectionOf([{ pattern: /b","c","d/, replacement: 'R' }], { reach: 12 })
    const text = piecesThrough(['["ab","c","de"]'], [across], toolArguments).join('')
    expect(text).toBe('["aR","","e"]')
    const literals = detectionOf([{ pattern: /1, "a", 2/, replacement: 'R' }], { reach: 12 })
    expect(piecesThrough(['[1, "a", 2]'], [literals], toolArguments).join('')).toBe('[1, "R", 2]')
  })

  test('finds what is written with escapes, and writes what is put in with them', () => {
    const json = JSON.stringify({ to: 'José\n' }).replace('é', '\\u00e9')
    expect(piecesThrough([json], [names], toolArguments).join('')).toBe('{"to":"a \\"b\\"\\n\\\\"}')
  })

  test('makes a string of a number that is replaced', () => {
    expect(piecesThrough(['{"pin": 1234, "n": 12345}'], [digits], toolArguments).join('')).toBe(
      '{"pin": "#\\"#", "n": 12345}',
    )
  })

  test.each([
    ['a sign', '{"pin": -1234, "n": 5}', '{"pin": "#\\"#", "n": 5}'],
    ['a fraction', '[1234.5,6.1234e3]', '["#\\"#","#\\"#"]'],
    ['two findings', '[1234.1234]', '["#\\"#"]'],
    ['the end of everything', '-1234', '"#\\"#"'],
  ])('replaces a number as a whole, with %s, wherever it is cut', (_, json, left) => {
    for (const parts of [[json], [...json], ...[...json].map((_, at) => [json.slice(0, at), json.slice(at)])])
      expect(piecesThrough(parts, [digits], toolArguments).join('')).toBe(left)
  })

  test('takes characters away that stand between values', () => {
    const hidden = detectionOf([{ pattern: /\u200b/, replacement: '' }], { reach: 1 })
    const json = '{"a":\u200b[1\u200b2,\u200b"b\u200b"]}'
    for (const parts of [[json], [...json]])
      expect(piecesThrough(parts, [hidden], toolArguments).join('')).toBe('{"a":[12,"b"]}')
  })

  test('holds back no row of letters that is too long for a value', () => {
    const window = new Window(detectorsOf([digits]), toolArguments, () => '')
    for (let i = 0; i < 1000; i += 1) {
      push(window, 'a')
      expect(window.came - window.left).toBeLessThanOrEqual(406)
    }
  })

  test('keeps the quotes and commas that a finding runs over', () => {
    const across = detectionOf([{ pattern: /b":"c","d/, replacement: 'R' }], { reach: 12 })
    const text = piecesThrough(['{"ab":"c","de":"f"}'], [across], toolArguments).join('')
    expect(JSON.parse(text)).toEqual({ aR: '', e: 'f' })
  })

  test('leaves JSON without findings byte for byte as it was, broken JSON too', () => {
    const odd = fc.string({
      unit: fc.constantFrom('\\', '"', 'u', '0', 'n', '{', 'x', '\\u12', '\\ud83d'),
      maxLength: 20,
    })
    fc.assert(
      fc.property(cutText(odd), (parts) => {
        expect(piecesThrough(parts, [names], toolArguments).join('')).toBe(parts.join(''))
      }),
    )
  })
})
