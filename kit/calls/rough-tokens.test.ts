import { expect, test } from 'vitest'
import { estimateTokens } from './estimate.ts'
import { roughTokens } from './rough-tokens.ts'

const said = (content: string) => ({ messages: [{ role: 'user' as const, content }] })

test.each(['plain words of English. ', 'это обычные слова. ', '很多普通的文字。', 'x = f(y[0]);\n'])(
  'a rough count of a long text (%j) is near an estimate of all of it',
  (text) => {
    const long = text.repeat(2000)
    const ratio = roughTokens(said(long)) / estimateTokens(long)
    expect(ratio).toBeGreaterThan(0.8)
    expect(ratio).toBeLessThan(1.25)
  },
)

test('texts, prompts given as tokens, tools, calls of tools and images count', () => {
  const hi = roughTokens(said('hi'))
  const image = { type: 'image_url', image_url: { url: 'data:,' } }
  const call = { id: 'a', type: 'function' as const, function: { name: 'look', arguments: '{"for":"it"}' } }
  expect(roughTokens({ messages: [{ role: 'user', content: [image] }] })).toBeGreaterThan(1000)
  expect(
    roughTokens({ ...said('hi'), tools: [{ type: 'function', function: { name: 'look' } }] }),
  ).toBeGreaterThan(hi)
  expect(
    roughTokens({ messages: [{ role: 'assistant', content: null, tool_calls: [call] }] }),
  ).toBeGreaterThan(6)
  const [without, withNull] = [{}, { tool_calls: null }].map((more) => {
    return roughTokens({ messages: [{ role: 'assistant', content: 'hi', ...more }] })
  })
  expect(withNull).toBe(without)
  expect(roughTokens({ prompt: [1, 2, 3] })).toBe(3)
  expect(roughTokens({ prompt: ['hi', 'hi'] })).toBeGreaterThan(0)
  expect(roughTokens({})).toBe(0)
})
