import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import { claimKinds } from './claims.ts'
import { unsupportedIn } from './unsupported.ts'

const found = (answer: string, ...given: string[]): string[] =>
  unsupportedIn(
    { choices: [{ index: 0, message: { role: 'assistant', content: answer }, finish_reason: 'stop' }] },
    given,
    new Set(claimKinds),
    1,
  )!.map(({ text }) => text)

const report =
  'Revenue was $120 million in 2025 and $90 million in 2024. The office in Lima has 1,250 employees and 14.25 km of shelves. ' +
  'It opened on 3 March 2019, see https://www.example.com/report?id=7. The director said: "We will never sell the house by the sea." [2] ' +
  'Costs: rent 40 EUR, power 25 EUR, water 15 EUR.'

describe('what is given is supported, however it is written', () => {
  test.each([
    'Revenue was $120 million.',
    'Revenue was 120,000,000 USD.',
    'It has 1.250 Menschen.',
    'There are 14.3 km of shelves, about 14 kilometres.',
    'It opened on 2019-03-03, or March 3rd, 2019, or 03.03.2019.',
    'See http://example.com/report?id=7.',
    'He said “we will never sell the house, by the sea” [2].',
    'Rent, power and water cost 80 euros together.',
    'Revenue grew by $30 million.',
    'Revenue grew by 33%, to 133.3 % of the year before.',
    'Rent is 15 EUR more than power.',
    'Run `wait 500 ms`, or:\n```\ncurl https://invented.example\n```',
    'There are 3 steps.',
  ])('%s', (answer) => {
    expect(found(answer, report)).toEqual([])
  })
})

describe('what is not given is named', () => {
  test.each<[answer: string, unsupported: string[]]>([
    ['Revenue was $121 million.', ['$121 million']],
    ['It has 1,350 employees and 14.25 miles of shelves.', ['1,350 employees', '14.25 miles']],
    ['It opened on 4 March 2019.', ['4 March 2019']],
    ['See https://example.com/reports?id=7.', ['https://example.com/reports?id=7']],
    ['He said "we will sell the house by the sea" [3].', ['"we will sell the house by the sea"', '[3]']],
    ['Rent, power and water cost 85 euros together.', ['85 euros']],
    ['Revenue grew by 43%.', ['43%']],
  ])('%s', (answer, unsupported) => {
    expect(found(answer, report)).toEqual(unsupported)
  })
})

test('brackets cite nothing where nothing given has a mark', () => {
  expect(found('As shown [3], it is so.', 'Nothing but words.')).toEqual([])
})

test('too little that was given is no measure', () => {
  const body = { choices: [{ index: 0, message: { role: 'assistant' as const, content: '5 km' } }] }
  expect(unsupportedIn(body as never, ['short'], new Set(claimKinds), 200)).toBeUndefined()
})

test('a quantity, a date and an address that were given are supported wherever they stand', () => {
  const quantity = fc
    .tuple(fc.integer({ min: 1, max: 10_000_000 }), fc.constantFrom('km', '%', 'EUR', 'hours', 'GB'))
    .map(([value, unit]) => `${value} ${unit}`)
  const date = fc
    .date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
    .map((day) => day.toISOString().slice(0, 10))
  const address = fc.webUrl().map((url) => url.replace(/[.,;:!?*_'()^|\\]+/g, ''))
  const fact = fc.oneof(quantity, date, address)
  fc.assert(
    fc.property(fc.array(fact, { minLength: 1, maxLength: 10 }), fc.nat(9), (facts, n) => {
      const one = facts[n % facts.length]!
      expect(found(`It is ${one} then.`, `Given: ${facts.join(' ; ')} .`)).toEqual([])
    }),
    runs(300),
  )
})

test('the first 400,000 characters of an answer are checked', () => {
  const filler = 'and so on '.repeat(39_999)
  expect(found(`${filler}5 km. ${filler}7 km.`, 'Nothing but words.')).toEqual(['5 km'])
})

test('hostile texts take no longer than their length', () => {
  const texts = [
    '1,'.repeat(100_000),
    '"'.repeat(200_000),
    '['.repeat(200_000),
    '9'.repeat(200_000),
    '$1 '.repeat(60_000),
  ]
  for (const text of texts) expect(found(text, text)).toEqual([])
})
