import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Target } from '../../../contract/provider.ts'
import { UpstreamError } from '../../../kit/errors.ts'
import { Cancel } from '../../../kit/work/cancel.ts'
import { type Script, startUpstream, type Upstream } from '../../../test/upstream/index.ts'
import { providerOf } from '../directory/provider.ts'
import { sections } from '../sections.ts'
import { Transport, type TransportOptions } from './transport.ts'
import type { UpstreamAnswer } from './upstream-answer.ts'

let upstream: Upstream
let transport: Transport

beforeAll(async () => {
  upstream = await startUpstream()
})
afterAll(() => upstream.close())
beforeEach(() => upstream.reset())
afterEach(() => transport.close())

const { own } = sections.parse({ providers: { own: { type: 'openai' } } }).providers
const target: Target = { provider: providerOf('own', own, new Map(), {})!, model: 'm', key: undefined }

/** What comes of a script. */
function answerTo(script: Script, stream = false, options: TransportOptions = {}): Promise<UpstreamAnswer> {
  upstream.reply(script)
  transport = new Transport(options)
  const url = `${upstream.baseUrl()}/chat/completions`
  const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }], stream })
  return transport.send({ method: 'POST', url, headers, body }, target, new Cancel(), {})
}

async function textOf(answer: UpstreamAnswer): Promise<string> {
  const bytes: Buffer[] = []
  for (let batch = await answer.read(); batch; batch = await answer.read()) bytes.push(...batch)
  return Buffer.concat(bytes).toString()
}

async function failureOf(promise: Promise<unknown>): Promise<UpstreamError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(UpstreamError)
  return error as UpstreamError
}

const codings = ['gzip', 'br', 'deflate', 'deflate-raw', 'zstd'] as const

describe.each(codings)('an answer packed with %s', (coding) => {
  test('is unpacked', async () => {
    const answer = await answerTo({ content: 'Grüezi, 世界', coding })
    expect(JSON.parse(String(await answer.whole())).choices[0].message.content).toBe('Grüezi, 世界')
  })

  test('gives each event as soon as its bytes have come', async () => {
    const answer = await answerTo({ content: ['a', 'b', 'c'], coding, hangAfter: 1 }, true)
    expect(Buffer.concat((await answer.read())!).toString()).toMatch(/^data: \{.*\}\n\n$/)
    answer.cancel()
  })

  test('is the same wherever its bytes are cut', async () => {
    const text = await textOf(await answerTo({ content: ['Grü', 'ezi'], coding, splitBytes: 1 }, true))
    expect(text).toMatch(/"Grü".*"ezi".*data: \[DONE\]\n\n$/s)
  })

  test('that breaks off is a failure of the provider', async () => {
    for (const stream of [false, true]) {
      const answer = await answerTo({ content: 'a'.repeat(500), coding, splitBytes: 20, endAfter: 2 }, stream)
      expect(await failureOf(textOf(answer))).toMatchObject({
        fault: 'protocol',
        retryable: true,
        status: 502,
      })
    }
  })
})

test('an answer of nothing is nothing, packed or not', async () => {
  expect(await textOf(await answerTo({ body: '', headers: { 'content-encoding': 'gzip' } }))).toBe('')
})

test.each(['identity', '', 'Identity'])('the coding "%s" is none', async (coding) => {
  expect(await textOf(await answerTo({ body: 'x', headers: { 'content-encoding': coding } }))).toBe('x')
})

test('a coding is known by all of its names', async () => {
  const packed = { garbage: gzipSync('x'), headers: { 'content-encoding': 'X-GZip' } }
  expect(await textOf(await answerTo(packed))).toBe('x')
})

test.each(['lzma', 'gzip, br'])('the coding "%s" is a failure that names it', async (coding) => {
  const error = await failureOf(answerTo({ headers: { 'content-encoding': coding } }))
  expect(error).toMatchObject({ fault: 'protocol', retryable: true, status: 502 })
  expect(error.message).toContain(coding)
})

test('bytes that were not packed at all are a failure that says so', async () => {
  const answer = answerTo({ garbage: 'not packed', headers: { 'content-encoding': 'gzip' } })
  expect((await failureOf(answer.then(textOf))).message).toContain('unpacked (gzip)')
})

test('nothing packed is asked for', async () => {
  await (await answerTo({})).whole()
  expect(upstream.last().headers['accept-encoding']).toBe('identity')
})

const bomb = { garbage: gzipSync(Buffer.alloc(64 * 1024 * 1024)), headers: { 'content-encoding': 'gzip' } }

test('what is small packed and too large unpacked is cut off', async () => {
  const limits = { maxSize: 1024 * 1024 }
  const whole = await answerTo(bomb, false, { limits })
  const error = await failureOf((async () => whole.whole())())
  expect(error).toMatchObject({ fault: 'protocol', status: 502 })
  expect(error.message).toContain('too large')
})

test('a slow reader makes the unpacking wait', async () => {
  const answer = await answerTo({ ...bomb, splitBytes: 4096 })
  let read = 0
  for (let batch = await answer.read(); batch; batch = await answer.read()) {
    const size = batch.reduce((sum, { length }) => sum + length, 0)
    expect(size).toBeLessThan(4 * 1024 * 1024)
    read += size
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  expect(read).toBe(64 * 1024 * 1024)
})
