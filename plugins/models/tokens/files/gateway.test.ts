import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ConfigError } from '../../../../config/config.ts'
import { CallSettled, type Outcome } from '../../../../kernel/call/outcome.ts'
import { startGateway, type TestGateway } from '../../../../test/harness.ts'
import { bpe } from '../../../../test/tokenizer-files.ts'
import { startUpstream, type Upstream } from '../../../../test/upstream/index.ts'

let folder: string
let upstream: Upstream
let gateway: TestGateway | undefined

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-tokenizers-'))
  upstream = await startUpstream()
})

afterEach(async () => {
  await gateway?.close()
  gateway = undefined
  await upstream.close()
  await rm(folder, { recursive: true })
})

const content = 'hello world'

it('a model whose tokenizer the operator brings is counted with it, and billed by it where nobody reports', async () => {
  const file = path.join(folder, 'tokenizer.json')
  await writeFile(file, JSON.stringify(bpe))
  await writeFile(path.join(folder, 'chat_template.jinja'), '<s>{{ messages[0].content }}<|model|>')
  const tokenizers = { acme: { models: ['acme-*'], file } }
  gateway = await startGateway({ upstream, config: { tokenizers } })
  const client = new Anthropic({ baseURL: gateway.url, apiKey: gateway.adminKey })
  const messages = [{ role: 'user' as const, content }]
  const counted = await client.messages.countTokens({ model: 'openai/acme-1', messages }).withResponse()
  expect(counted.data.input_tokens).toBe(6)
  expect(counted.response.headers.get('x-token-count')).toBe('tokenizer')
  expect(upstream.requests).toHaveLength(0)

  const message = { role: 'assistant', content: 'hello' }
  upstream.reply({ body: { id: 'c1', object: 'chat.completion', choices: [{ index: 0, message }] } })
  const settled = new Promise<Outcome>((resolve) => {
    gateway?.kernel.events.on(CallSettled, ({ outcome }) => resolve(outcome))
  })
  await gateway.api('POST', '/v1/chat/completions', { model: 'openai/acme-1', messages })
  expect((await settled).usage).toMatchObject({ input: 6, output: 1, source: 'estimated' })
})

it('a start with files that cannot be used is none, and tells each mistake at once', async () => {
  await writeFile(path.join(folder, 'torn.json'), '{')
  const tokenizers = {
    lost: { models: ['a'], file: path.join(folder, 'lost.json') },
    torn: { models: ['b'], file: path.join(folder, 'torn.json') },
  }
  const error = await startGateway({ config: { tokenizers } }).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ConfigError)
  expect((error as ConfigError).problems).toEqual([
    `service.yaml line 6: tokenizers.lost: ${path.join(folder, 'lost.json')}: the file does not exist`,
    `service.yaml line 10: tokenizers.torn: ${path.join(folder, 'torn.json')}: it is not JSON`,
  ])
})
