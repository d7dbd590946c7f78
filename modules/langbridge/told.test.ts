import { expect, test } from 'vitest'
import { languageDetector } from '#kit'
import { toldLanguage } from './told.ts'

test.each([
  ['de', 'Wie hoch ist der Turm in Paris?'],
  ['fr', 'Quelle est la hauteur de la tour ?'],
  ['ja', '秋についての俳句を書いて'],
  ['zh', '写一首关于秋天的诗'],
  ['de', 'Was macht dieser Code?\n```js\nconst the = "a lot of English words in a comment"\n```'],
])('%s is told from %j', async (code, text) => {
  expect(toldLanguage(text, await languageDetector())).toBe(code)
})

test.each([
  '',
  'ok',
  'Install npm',
  'ja, bitte',
  '42 + 3 = 45',
  '你好',
  '`const wie = "Wie hoch ist der Turm?"`',
  'https://example.de/wie-hoch-ist-der-turm',
])('%j is too short, or no language', async (text) => {
  expect(toldLanguage(text, await languageDetector())).toBeUndefined()
})
