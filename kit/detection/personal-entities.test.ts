import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Detection } from '#kernel'
import { cut, cutText, piecesThrough, redactedWhole } from '../../test/detection.ts'
import { runs } from '../../test/suite/runs.ts'
import { findAll } from './find-all.ts'
import {
  formsOf,
  personalFinder,
  personalFinders,
  personalReach,
  personalTypes,
} from './personal-entities.ts'
import { toldNames } from './told-names.ts'

const finders = personalFinders(personalTypes, ['US', 'GB', 'DE'])
const found = (text: string) =>
  findAll(finders, text, 0).map(({ start, end, type }) => [type, text.slice(start, end)])

test.each([
  ['email', 'Mail ada.lovelace+x@sub.example.co.uk now', 'ada.lovelace+x@sub.example.co.uk'],
  ['email', 'Mail <zoë@exämple.de>.', 'zoë@exämple.de'],
  ['card', 'Card 4111 1111 1111 1111 expires', '4111 1111 1111 1111'],
  ['card', 'Card 378282246310005.', '378282246310005'],
  ['iban', 'Pay DE89 3704 0044 0532 0130 00 today', 'DE89 3704 0044 0532 0130 00'],
  ['iban', 'Pay GB82WEST12345698765432', 'GB82WEST12345698765432'],
  ['national_id', 'SSN 536-90-4399.', '536-90-4399'],
  ['national_id', 'My social security number is 536904399', '536904399'],
  ['national_id', 'DNI 12345678Z ok', '12345678Z'],
  ['national_id', 'NIE X-1234567-L ok', 'X-1234567-L'],
  ['national_id', 'CPF 529.982.247-25', '529.982.247-25'],
  ['national_id', 'NIR 1 85 05 78 006 084 91', '1 85 05 78 006 084 91'],
  ['national_id', 'Number 11010519491231002X', '11010519491231002X'],
  ['national_id', 'Personnummer 811228-9874', '811228-9874'],
  ['national_id', 'NI AB 12 34 56 C', 'AB 12 34 56 C'],
  ['ip', 'From 192.168.10.5, port 80', '192.168.10.5'],
  ['ip', 'From 2001:db8::8a2e:370:7334 today', '2001:db8::8a2e:370:7334'],
  ['phone', 'Call +49 30 1234 5678 soon', '+49 30 1234 5678'],
  ['phone', 'Call (415) 555-2671 soon', '(415) 555-2671'],
  ['phone', 'Call 415.555.2671.', '415.555.2671'],
  ['phone', 'Call 020 7946 0958, please', '020 7946 0958'],
  ['phone', 'Call +86 138 1234 5678', '+86 138 1234 5678'],
  ['birth_date', 'She was born on 10 December 1815 there', '10 December 1815'],
  ['birth_date', 'DOB: 1815-12-10', '1815-12-10'],
  ['birth_date', 'My birthday is March 3rd, 1990.', 'March 3rd, 1990'],
  ['address', 'Lives at 221b Baker Street now', '221b Baker Street'],
  ['address', 'Wohnt Hauptstraße 12 im Ort', 'Hauptstraße 12'],
  ['address', 'Write to PO Box 1234', 'PO Box 1234'],
  ['name', 'My name is Ada Lovelace and', 'Ada Lovelace'],
  ['name', 'Dear Charles,', 'Charles'],
  ['name', 'Ask Dr. Grace Hopper for it', 'Dr. Grace Hopper'],
  ['name', 'Best regards,\nLudwig van Beethoven', 'Ludwig van Beethoven'],
])('%s is found: %s', (type, text, value) => {
  expect(found(text)).toEqual([[type, value]])
})

test.each([
  'Card 4111 1111 1111 1112 is no card',
  'DE89 3704 0044 0532 0130 01 has wrong check digits',
  '12345678A, 529.982.247-26 and 811228-9875 have wrong check digits too',
  'On 2024-01-15 at 10:30:45 we had 1,234,567 visits in version 1.2.3',
  'The order 12345 costs 99.95 and 256.300.1.2 is no address',
  'The population is 8 123 456 789, the timestamp 1700000000',
  'See section 3.14, std::vector, and call me maybe',
  'Dear Sir, This is The way. My name is not told.',
  'commit 4f2a9c1 of 2019-2024, ids 000-00-0000 and 666-12-1234',
])('ordinary text is left alone: %s', (text) => {
  expect(found(text)).toEqual([])
})

test('a name that is told once is found wherever it stands, and its parts, if they are no common words', () => {
  const texts = [
    'My name is Ada Lovelace.',
    'Mr. Will Turing called',
    'Will Ada call Turing? LOVELACE Lovelace-Prize adam',
  ]
  const told = toldNames(texts, personalFinders(['name'], []))!
  const all = (text: string) => findAll([told], text).map(({ start, end }) => text.slice(start, end))
  expect(all(texts[0]!)).toEqual(['Ada Lovelace'])
  expect(all(texts[2]!)).toEqual(['Ada', 'Turing', 'Lovelace'])
  expect(toldNames(['nothing here'], personalFinders(['name'], []))).toBeUndefined()
})

describe('in streams', () => {
  const detection: Detection = {
    reach: personalReach,
    context: 128,
    scan: (text, _place, _call, from) =>
      findAll(finders, text, from).map(({ start, end, type }) => {
        return { start, end, label: type, action: 'replace', replacement: `[${type}]` }
      }),
  }
  const part = fc.constantFrom(
    ...[
      'ada@example.com',
      '4111 1111 1111 1111',
      'DE89 3704 0044 0532 0130 00',
      '536-90-4399',
      '192.168.10.5',
      '+49 30 1234 5678',
    ],
    ...[
      '(415) 555-2671',
      'My name is ',
      'Ada Lovelace',
      'Dear ',
      'born on ',
      '10 December 1815',
      '221b Baker Street',
      '::1',
      '1234 ',
      'Dr. ',
    ],
    ...[' ', '\n', '-', '.', ',', 'word', '7', '😀'],
  )
  const texts = fc.array(part, { maxLength: 30, size: 'max' }).map((parts) => parts.join(''))

  test('the same is found whether one looks around signs alone or everywhere', () => {
    const forms = formsOf(personalTypes, ['US', 'DE'])
    const everywhere = forms.map(({ sign: _, ...form }) => personalFinder(form))
    const around = forms.map(personalFinder)
    const bits = fc.constantFrom(
      ...[
        '@',
        '.',
        ':',
        '-',
        '+',
        '(',
        ')',
        '/',
        ' ',
        '\n',
        '_',
        '%',
        '00',
        '1',
        '23',
        '456',
        '7890',
        '12345678',
      ],
      ...[
        'a',
        'f',
        'Z',
        'X',
        'é',
        '𝐀',
        '😀',
        'Ada',
        'Baker',
        'Haupt',
        'straße',
        'weg ',
        ' St',
        'Mr. ',
        'Dr ',
        'com',
      ],
    )
    const odd = fc.array(bits, { maxLength: 40, size: 'max' }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.oneof(odd, texts), fc.nat({ max: 20 }), (text, at) => {
        const from = text.slice(0, at).isWellFormed() ? at : at + 1
        for (const [i, find] of around.entries())
          expect(findAll([find], text, from), String(forms[i]!.pattern)).toEqual(
            findAll([everywhere[i]!], text, from),
          )
      }),
      runs(3000),
    )
  })

  test('the same is found for every way of cutting', () => {
    fc.assert(
      fc.property(cutText(texts), (parts) => {
        expect(piecesThrough(parts, [detection]).join('')).toBe(redactedWhole(parts.join(''), [detection]))
      }),
      runs(1000),
    )
  })

  test('the same is found character by character in long texts', () => {
    fc.assert(
      fc.property(fc.array(texts, { minLength: 5, maxLength: 8 }), (many) => {
        const text = many.join(' ')
        const places = Array.from({ length: text.length }, (_, i) => i)
        expect(piecesThrough(cut(text, places), [detection]).join('')).toBe(redactedWhole(text, [detection]))
      }),
      runs(20),
    )
  })
})

test('hostile text takes no more than its length in time', () => {
  const hostile = [
    'a@',
    'a.',
    '1 ',
    '1',
    '(1)',
    '1-',
    'AB12',
    'DE89 ',
    ':',
    'a:',
    '1.',
    'Dear ',
    'A ',
    'born ',
    '1 A ',
    '+1',
    '00',
    'Abc de ',
    '+(',
  ]
  for (const piece of hostile) {
    const text = piece.repeat(100_000 / piece.length)
    const began = performance.now()
    findAll(finders, text)
    expect(performance.now() - began, piece).toBeLessThan(4000)
  }
}, 90_000)
