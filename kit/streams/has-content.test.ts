import { expect, test } from 'vitest'
import type { CompletionChunk } from '../canonical/forms.ts'
import { hasContent } from './has-content.ts'

test.each<[CompletionChunk['choices'], boolean]>([
  [[], false],
  [[{ index: 0 }], false],
  [[{ index: 0, delta: {} }], false],
  [[{ index: 0, delta: { role: 'assistant' } }], false],
  [[{ index: 0, delta: { role: 'assistant', content: '', refusal: null, reasoning: undefined } }], false],
  [[{ index: 0, delta: { content: 'a' } }], true],
  [[{ index: 0, delta: { tool_calls: [] } }], true],
  [[{ index: 0, text: '' }], false],
  [[{ index: 0, text: 'a' }], true],
  [[{ index: 0, delta: {}, finish_reason: null }], false],
  [[{ index: 0, delta: {}, finish_reason: 'stop' }], true],
  [
    [
      { index: 0, delta: {} },
      { index: 1, delta: { content: 'a' } },
    ],
    true,
  ],
])('choices %# have something a reader would see: %s', (choices, has) => {
  expect(hasContent({ choices })).toBe(has)
})
