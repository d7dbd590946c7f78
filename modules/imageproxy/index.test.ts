import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import OpenAI from 'openai'
import sharp, { type Metadata } from 'sharp'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const model = 'gpt-4o-mini'
const secret = 'qx-place-and-name'

let upstream: Upstream
let gateway: TestGateway
let host: Server
let hostUrl: string
/** What the host answers, by path. */
const pages = new Map<
  string,
  { status?: number; headers?: Record<string, string>; body?: Buffer; stalls?: boolean }
>()
const asked: string[] = []

const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: { r: 200, g: 30, b: 30 } } })
const photo = (width = 300, height = 200, orientation = 1): Promise<Buffer> =>
  picture(width, height)
    .withMetadata({ orientation, exif: { IFD0: { Copyright: secret } } })
    .jpeg()
    .toBuffer()

beforeAll(async () => {
  upstream = await startUpstream()
  host = createServer((request, response) => {
    asked.push(request.url!)
    const { status = 200, headers = {}, body, stalls } = pages.get(request.url!) ?? { status: 404 }
    response.writeHead(status, headers)
    if (stalls) response.write('x')
    else response.end(body)
  })
  await new Promise<void>((done) => host.listen(0, '127.0.0.1', done))
  hostUrl = `http://127.0.0.1:${(host.address() as AddressInfo).port}`
  gateway = await startGateway({ upstream, config: { egress: { allow: ['127.0.0.1'] } } })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  host.closeAllConnections()
  host.close()
})

const usual = { max_bytes: 10_000_000, max_side: 2048, max_images: 50, allow_hosts: [], timeout_s: 10 }
const configure = (config: Record<string, unknown> = {}) =>
  gateway.module('imageproxy', { enabled: true, config: { ...usual, ...config } })

beforeEach(async () => {
  upstream.reset()
  upstream.reply({ content: 'A picture.', times: Number.POSITIVE_INFINITY })
  asked.length = 0
  pages.clear()
  await configure()
})

const dataUrl = (bytes: Buffer, type = 'image/jpeg'): string =>
  `data:${type};base64,${bytes.toString('base64')}`

async function send(url: unknown) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: url },
          ],
        },
      ],
    }),
  })
  return { status: response.status, body: (await response.json()) as { error: { message: string } } }
}

/** The image that the provider was sent last. */
async function received(): Promise<{ bytes: Buffer; meta: Metadata; detail: unknown }> {
  const { messages } = upstream.requests.at(-1)!.body as {
    messages: { content: { image_url: { url: string; detail?: string } }[] }[]
  }
  const { url, detail } = messages[0]!.content[1]!.image_url
  const bytes = Buffer.from(url.replace(/^data:[^,]*,/, ''), 'base64')
  return { bytes, meta: await sharp(bytes).metadata(), detail }
}

test('an image is sent inline without its metadata, upright and no larger than its model can see', async () => {
  pages.set('/photo', { body: await photo(3000, 1000, 6), headers: { 'content-type': 'text/html' } })
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.adminKey, maxRetries: 0 })
  const content = [
    { type: 'text' as const, text: 'What is this?' },
    { type: 'image_url' as const, image_url: { url: `${hostUrl}/photo`, detail: 'high' as const } },
  ]
  const { choices } = await client.chat.completions.create({ model, messages: [{ role: 'user', content }] })
  expect(choices[0]!.message.content).toBe('A picture.')
  const { bytes, meta, detail } = await received()
  expect([bytes.includes(secret), meta.exif, meta.format, detail]).toEqual([false, undefined, 'jpeg', 'high'])
  expect([meta.width, meta.height]).toEqual([683, 2048])
  expect(JSON.stringify(upstream.requests.at(-1)!.body)).not.toContain(hostUrl)
})

test('data URLs in every form are cleaned: whatever type they claim, and what is hidden behind the picture', async () => {
  const hidden = Buffer.concat([await photo(), Buffer.from(secret)])
  for (const url of [
    { url: dataUrl(hidden, 'image/png') },
    dataUrl(hidden),
    { url: `data:image/jpeg;charset=x;base64,${hidden.toString('base64')}` },
  ]) {
    expect((await send(url)).status).toBe(200)
    expect((await received()).bytes.includes(secret)).toBe(false)
  }
  for (const [format, sent] of [
    ['png', 'png'],
    ['webp', 'webp'],
    ['gif', 'png'],
  ] as const) {
    expect((await send({ url: dataUrl(await picture(20, 10).toFormat(format).toBuffer()) })).status).toBe(200)
    expect((await received()).meta).toMatchObject({ format: sent, width: 20, height: 10 })
  }
})

describe('the call is refused, and its host not asked', () => {
  test.each([
    'http://127.0.0.2/a.png',
    'http://169.254.169.254/latest/meta-data/',
    'http://168.63.129.16/metadata',
    'http://[::1]/a.png',
    'http://[::ffff:127.0.0.2]/a.png',
    'http://2130706434/a.png',
    'http://10.0.0.1/a.png',
    'http://localhost:9999/a.png',
    'ftp://example.com/a.png',
    'file:///etc/passwd',
    'gs://bucket/a.png',
    'data:image/png,plain',
  ])('for %s', async (url) => {
    const { status, body } = await send({ url })
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('messages.0.content.1: ')])
    expect(upstream.requests).toHaveLength(0)
  })
})

test('a redirect is followed to what is public and allowed, three times at the most', async () => {
  const body = await photo()
  pages.set('/photo', { body })
  pages.set('/once', { status: 302, headers: { location: '/photo' } })
  pages.set('/inside', { status: 302, headers: { location: 'http://127.0.0.2:9999/a.png' } })
  pages.set('/file', { status: 302, headers: { location: 'file:///etc/passwd' } })
  pages.set('/round', { status: 307, headers: { location: '/round' } })
  const to = async (at: string) => (await send({ url: hostUrl + at })).body.error?.message
  expect(await to('/once')).toBeUndefined()
  expect(await to('/inside')).toContain('not public')
  expect(await to('/file')).toContain('not valid')
  expect(await to('/round')).toContain('redirects more than 3 times')
  await configure({ allow_hosts: ['*.example.com'] })
  expect(await to('/photo')).toContain('not one of those that are allowed')
  await configure({ allow_hosts: ['127.0.0.*'] })
  expect(await to('/photo')).toBeUndefined()
})

test('what is too large, late, missing or no picture is refused with its reason', async () => {
  const reason = async (url: string) => (await send({ url })).body.error.message
  pages.set('/large', { body: Buffer.alloc(200_000) })
  pages.set('/svg', { body: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>') })
  pages.set('/cut', { body: (await photo()).subarray(0, 400) })
  pages.set('/late', { stalls: true })
  await configure({ max_bytes: 100_000, timeout_s: 0.2 })
  expect(await reason(`${hostUrl}/large`)).toContain('more than 100000 bytes')
  expect(await reason(dataUrl(Buffer.alloc(200_000)))).toContain('more than 100000 bytes')
  expect(await reason(`${hostUrl}/svg`)).toContain('no JPEG, PNG, WebP or GIF')
  expect(await reason(`${hostUrl}/cut`)).toContain('cannot be read')
  expect(await reason(`${hostUrl}/late`)).toContain('in time')
  expect(await reason(`${hostUrl}/missing`)).toContain('answered 404')
  const bomb = await picture(10_000, 5001).png({ compressionLevel: 9 }).toBuffer()
  await configure({ max_bytes: 10_000_000 })
  expect(await reason(dataUrl(bomb))).toContain('million pixels')
  await configure({ max_images: 1 })
  const part = { type: 'image_url', image_url: { url: dataUrl(await photo()) } }
  const { status, body } = await gateway.api('POST', '/v1/chat/completions', {
    model,
    messages: [{ role: 'user', content: [part, part] }],
  })
  expect([status, body.error.param]).toEqual([400, 'messages.0.content.1'])
})

test('an address is fetched once for the turns of a conversation', async () => {
  pages.set('/turns', { body: await photo() })
  for (let turn = 0; turn < 3; turn += 1) expect((await send({ url: `${hostUrl}/turns` })).status).toBe(200)
  expect(asked).toEqual(['/turns'])
})

test('images of other wires pass the same way', async () => {
  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      max_tokens: 50,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            {
              type: 'image',
              source: { type: 'base64', media_type: 'image/jpeg', data: (await photo()).toString('base64') },
            },
          ],
        },
      ],
    }),
  })
  expect(response.status).toBe(200)
  expect((await received()).bytes.includes(secret)).toBe(false)
})
