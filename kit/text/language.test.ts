import { expect, test } from 'vitest'
import { languageDetector } from './language.ts'

test.each([
  ['en', 'Hello, how are you today?'],
  ['de', 'Wie spät ist es in Berlin gerade?'],
  ['es', '¿Cuál es la capital de Francia?'],
  ['fr', 'Quelle est la capitale de la France?'],
  ['it', 'Scrivi una breve poesia sul mare'],
  ['zh', '写一首关于秋天的诗'],
  ['ja', '秋についての俳句を書いて'],
  ['ar', 'اكتب قصيدة قصيرة عن البحر'],
])('the language %s is told by a sentence', async (code, text) => {
  const languageOf = await languageDetector()
  expect(languageOf(text)).toBe(code)
  expect(languageOf(`${text} `.repeat(10_000))).toBe(code)
})

test.each(['', 'ok', '1234', '😀'])('of %j no language is claimed', async (text) => {
  expect((await languageDetector())(text)).toBeUndefined()
})
