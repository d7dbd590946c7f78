import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { bareChain } from '../../test/bare.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { bedrock, startUpstream, type Upstream } from '../../test/upstream/index.ts'

const files: Readonly<Record<string, readonly [type: string | undefined, content: string | Buffer]>> = {
  '/a': ['image/png; charset=binary', 'hi'],
  '/b.jpg': ['application/octet-stream', 'hi'],
  '/c.pdf': [undefined, '%PDF'],
  '/page': ['audio/ogg', 'hi'],
  '/large.png': ['image/png', Buffer.alloc(26 * 1024 * 1024)],
}
const server = createServer((request, response) => {
  if (request.url === '/moved') return response.writeHead(302, { location: 'http://127.0.0.2/a' }).end()
  const [type, content] = files[request.url ?? ''] ?? []
  if (content === undefined) return response.writeHead(404).end()
  return response.writeHead(200, type === undefined ? {} : { 'content-type': type }).end(content)
})

let upstream: Upstream
let gateway: TestGateway
let key: string
let root: string

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  upstream = await startUpstream({ wires: [bedrock], apiKey: 'ABSKkey' })
  gateway = await startGateway({
    config: {
      providers: { bedrock: { base_url: upstream.baseUrl(), api_key: 'ABSKkey' } },
      egress: { allow: ['127.0.0.1'] },
    },
  })
  await bareChain(gateway)
  key = (await gateway.signUp()).key
})

beforeEach(() => upstream.reset())

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  server.closeAllConnections()
  server.close()
})

const look = { type: 'text', text: 'Look' }
const image = (url: string) => ({ type: 'image_url', image_url: { url } })

async function ask(content: unknown, path = '/v1/chat/completions') {
  const body = { model: 'amazon.nova-pro-v1:0', max_tokens: 9, messages: [{ role: 'user', content }] }
  const answer = await gateway.api('POST', path, body, key)
  const [message] =
    ((upstream.requests.at(-1)?.body ?? {}) as { messages?: { content: unknown }[] }).messages ?? []
  return { ...answer, sent: message?.content }
}

it('files at addresses are fetched for the service, whatever their server says of them', async () => {
  const file = { type: 'file', file: { filename: 'c.pdf', file_data: `${root}/c.pdf` } }
  const { status, sent } = await ask([look, image(`${root}/a`), image(`${root}/b.jpg`), file])
  expect(status).toBe(200)
  const source = { bytes: Buffer.from('hi').toString('base64') }
  expect(sent).toEqual([
    { text: 'Look' },
    { image: { format: 'png', source } },
    { image: { format: 'jpeg', source } },
    { document: { format: 'pdf', name: 'c', source: { bytes: Buffer.from('%PDF').toString('base64') } } },
  ])
})

it('so are those of Anthropic’s clients', async () => {
  const document = { type: 'document', title: 'My paper', source: { type: 'url', url: `${root}/c.pdf` } }
  const picture = { type: 'image', source: { type: 'url', url: `${root}/a` } }
  const { status, sent } = await ask([look, document, picture], '/v1/messages')
  expect(status).toBe(200)
  expect(sent).toMatchObject([
    { text: 'Look' },
    { document: { format: 'pdf', name: 'My paper' } },
    { image: { format: 'png' } },
  ])
})

it.each([
  ['/none', /status 404/],
  ['/large.png', /too large/],
  ['/moved', /cannot be reached/],
])('a file that cannot be had is refused by the name of its field: %s', async (path, said) => {
  const { status, body } = await ask([look, image(root + path)])
  expect([status, body.error.param]).toEqual([400, 'messages.0.content.1'])
  expect(body.error.message).toMatch(said)
  expect(upstream.requests).toHaveLength(0)
})

it('what a service inside answers is not told, nor whether there is one', async () => {
  const inside = await Promise.all(
    ['http://127.0.0.2/', 'http://169.254.169.254/latest/', 'http://nowhere.invalid/'].map((url) =>
      ask([look, image(url)]),
    ),
  )
  const messages = inside.map(({ body }) => body.error.message as string)
  expect(new Set(messages).size).toBe(1)
})

it('so is one of a kind that the service does not take, and too many of them', async () => {
  expect((await ask([look, image(`${root}/page`)])).body.error.message).toContain('audio/ogg')
  const { status, body } = await ask(Array.from({ length: 21 }, () => image(`${root}/a`)))
  expect([status, body.error.param]).toEqual([400, 'messages'])
})
