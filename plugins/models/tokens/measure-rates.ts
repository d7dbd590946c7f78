import { readFile } from 'node:fs/promises'
import { type CharacterClass, characterClasses as classes, characterClassOf as classOf } from '#kit'
import type { Vocabulary } from '../catalogue/tokenizers.ts'
import { openVocabulary } from './vocabulary.ts'

/**
 * Measures what a character of each class takes of each vocabulary: the rates of `rates.ts`, as those that
 * fit the given texts best, and how far estimates by them are off.
 *
 *     node plugins/models/tokens/measure-rates.ts <file>…
 */
const vocabularies: readonly Vocabulary[] = [
  'cl100k_base',
  'o200k_base',
  'llama3',
  'qwen',
  'deepseek-v3',
  'tekken',
  'mistral-32k',
]
const chunk = 2000
const ascii: ReadonlySet<CharacterClass> = new Set(['space', 'letter', 'digit', 'sign'])
const files = process.argv.slice(2)
const texts = (await Promise.all(files.map((file) => readFile(file, 'utf8')))).flatMap((text) =>
  Array.from({ length: Math.ceil(text.length / chunk) }, (_, i) => text.slice(i * chunk, (i + 1) * chunk)),
)
const tallies = texts.map(tallyOf)

for (const name of vocabularies) {
  const { count } = await openVocabulary(name)
  const tokens = texts.map(count)
  const rates = fitted(tallies, tokens)
  const shown = Object.fromEntries(classes.map((of, i) => [of, Number(rates[i]!.toFixed(3))]))
  const off = (estimates: readonly number[]): string => {
    const errors = tokens.map((real, i) => Math.abs(estimates[i]! / real - 1)).sort((a, b) => a - b)
    return `${Math.round(100 * errors[errors.length >> 1]!)} %, of nine in ten less than ${Math.round(100 * errors[Math.floor(errors.length * 0.9)]!)} %`
  }
  console.log(name, JSON.stringify(shown))
  console.log(`  off by ${off(tallies.map((tally) => weighed(tally, rates)))}`)
  console.log(`  four characters a token: ${off(texts.map(({ length }) => length / 4))}`)
}

/** How many code units a text has of each class. */
function tallyOf(text: string): number[] {
  const tally = classes.map(() => 0)
  for (let i = 0; i < text.length; i++) tally[classOf[text.charCodeAt(i)]!]! += 1
  return tally
}

function weighed(tally: readonly number[], rates: readonly number[]): number {
  return tally.reduce((sum, of, i) => sum + of * rates[i]!, 0)
}

/**
 * Rates that make the squares of the relative errors least, by coordinate descent: none below nothing, and of ASCII none
 * above the one token for each byte that no tokenizer exceeds.
 */
function fitted(tallies: readonly (readonly number[])[], tokens: readonly number[]): number[] {
  const rows = tallies.map((tally, i) => tally.map((of) => of / tokens[i]!))
  const rates = classes.map(() => 0.25)
  const errors = rows.map((row) => 1 - weighed(row, rates))
  for (let round = 0; round < 2000; round++) {
    for (const k of rates.keys()) {
      let up = 0
      let down = 1e-9
      for (const [i, row] of rows.entries()) {
        up += row[k]! * errors[i]!
        down += row[k]! * row[k]!
      }
      const most = ascii.has(classes[k]!) ? 1 : 4
      const next = Math.min(most, Math.max(0, rates[k]! + up / down))
      const change = next - rates[k]!
      if (change === 0) continue
      for (const [i, row] of rows.entries()) errors[i]! -= row[k]! * change
      rates[k] = next
    }
  }
  return rates
}
