import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import { Cleaner } from './clean.ts'

const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
const cleaner = new Cleaner()

test.each([
  ['in a message', { messages: [{ role: 'user', content: `It is ${token}.` }] }, 'github_token'],
  ['in a part', { messages: [{ role: 'user', content: [{ type: 'text', text: token }] }] }, 'github_token'],
  ['in arguments', { tool_calls: [{ function: { arguments: `{"key":"${token}"}` } }] }, 'github_token'],
  [
    'in a header',
    { tools: [{ headers: { Authorization: `Bearer ${'x9Y8z7'.repeat(5)}` } }] },
    'bearer_token',
  ],
  ['by its name', { mcp_servers: [{ authorization_token: 'f9a8K2mQ7xLp0VtR5wZc' }] }, 'secret'],
  ['in a name', { metadata: { [token]: true } }, 'github_token'],
])('a secret is taken out %s', (_, value, label) => {
  const clean = JSON.stringify(cleaner.clean(value))
  expect(clean).toContain(`[REDACTED:${label}]`)
  expect(clean).not.toMatch(/a1B2c3|x9Y8z7|f9a8K2/)
})

test('what is around a secret stays, and so does everything else', () => {
  const value = { b: [1, null, true, `before ${token} after`], a: { d: 'secret santa', c: 0.5 } }
  expect(cleaner.clean(value)).toEqual({
    a: { c: 0.5, d: 'secret santa' },
    b: [1, null, true, 'before [REDACTED:github_token] after'],
  })
})

test('equal values are written alike, whatever the order of their fields', () => {
  expect(JSON.stringify(cleaner.clean({ b: { y: 1, x: 2 }, a: 3 }))).toBe('{"a":3,"b":{"x":2,"y":1}}')
})

test('wherever in whatever value a secret is, it is taken out', () => {
  const holding = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.tuple(fc.string(), fc.string()).map(([before, after]) => `${before} ${token} ${after}`),
      fc.tuple(fc.jsonValue(), tie('value'), fc.jsonValue()),
      fc.tuple(fc.string(), tie('value')).map(([name, value]) => ({ [name]: value })),
    ),
  }))
  fc.assert(
    fc.property(holding.value, (value) => {
      const clean = JSON.stringify(cleaner.clean(value))
      expect(clean).not.toContain(token)
      expect(clean).toContain('[REDACTED:')
    }),
    runs(300),
  )
})

test('log probabilities, which spell an answer again, go with its secret and stay without one', () => {
  const logprobs = { content: [{ token: 'a', logprob: -0.1 }] }
  const answer = (content: string) => ({
    choices: [
      {
        index: 0,
        message: { role: 'assistant' as const, content },
        finish_reason: 'stop' as const,
        logprobs,
      },
    ],
  })
  expect(cleaner.cleanAnswer(answer(`It is ${token}`)).choices![0]).not.toHaveProperty('logprobs')
  expect(cleaner.cleanAnswer(answer('It is fine'))).toEqual(answer('It is fine'))
})
