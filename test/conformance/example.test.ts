import { expect, test } from 'vitest'
import { startUpstream } from '../upstream/index.ts'
import { exampleSchema, makeCalls } from './example.ts'

test('the answers of an example are for its calls, also when the gateway looks at the provider first', async () => {
  await using upstream = await startUpstream()
  const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' }
  const example = exampleSchema.parse({
    title: 'Says what is scripted',
    config: {},
    request: { messages: [{ role: 'user', content: 'Hello' }] },
    upstream: [{ content: 'As scripted.' }],
    expect: {},
  })
  const [answer] = await makeCalls(example, upstream, undefined, async () => {
    await (await fetch(`${upstream.baseUrl()}/models`, { headers })).text()
    const body = JSON.stringify({ model: 'gpt-4o-mini', ...example.request })
    return (await fetch(`${upstream.baseUrl()}/chat/completions`, { method: 'POST', headers, body })).text()
  })
  expect(answer).toContain('As scripted.')
})
