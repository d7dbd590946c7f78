import { beforeEach, expect, test } from 'vitest'
import { callWith } from '../../test/chain.ts'
import { CleanTexts } from './clean-texts.ts'

const long = (text: string): string => `${text} `.repeat(Math.ceil(2000 / (text.length + 1)))
const ada = callWith()
const bob = callWith({}, { principal: { ...ada.principal, keyId: 'key_2', userId: 'usr_2' } })

let clean: CleanTexts
let searched: string[]

beforeEach(() => {
  clean = new CleanTexts()
  searched = []
})

/** Finds the digits of a text. */
const digitsIn = (text: string, call = ada) =>
  clean.search(text, call, () => {
    searched.push(text)
    return text.match(/\d/g) ?? []
  })

test('a long text in which nothing was found is not searched again', () => {
  for (let n = 0; n < 3; n += 1) expect(digitsIn(long('words'))).toEqual([])
  expect(searched).toHaveLength(1)
  expect(clean.has(long('words'), ada)).toBe(true)
})

test('a text in which something was found is searched each time', () => {
  const text = `${long('words')}1`
  for (let n = 0; n < 3; n += 1) expect(digitsIn(text)).toEqual(['1'])
  expect(searched).toHaveLength(3)
  expect(clean.has(text, ada)).toBe(false)
})

test('the least difference makes another text', () => {
  digitsIn(long('words'))
  expect(digitsIn(`${long('words')}7`)).toEqual(['7'])
  expect(digitsIn(`7${long('words')}`)).toEqual(['7'])
})

test('what is known of one caller is not known of another', () => {
  digitsIn(long('words'))
  expect(clean.has(long('words'), bob)).toBe(false)
  digitsIn(long('words'), bob)
  expect(searched).toHaveLength(2)
})

test('short texts are searched, and not remembered', () => {
  digitsIn('words')
  digitsIn('words')
  expect(searched).toHaveLength(2)
  expect(clean.has('words', ada)).toBe(false)
})

test('of many texts the latest are known, and those seen since', () => {
  digitsIn(long('first'))
  digitsIn(long('second'))
  for (let n = 0; n < 8191; n += 1) {
    digitsIn(long('first'))
    digitsIn(long(`a${String.fromCharCode(...Array.from(String(n), (digit) => 65 + Number(digit)))}`))
  }
  expect(clean.has(long('first'), ada)).toBe(true)
  expect(clean.has(long('second'), ada)).toBe(false)
})
