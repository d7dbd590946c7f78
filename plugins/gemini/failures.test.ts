import OpenAI from 'openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { startPlayed } from '../../test/played.ts'
import { shared } from '../../test/shared.ts'
import { gemini } from '../../test/upstream/index.ts'

const api_key = 'key-of-gemini'
const played = shared(() =>
  startPlayed({ wires: [gemini], apiKey: api_key }, ({ baseUrl }) => ({
    config: {
      providers: {
        gemini: { base_url: baseUrl(), api_key },
        wrong: { base_url: baseUrl(), type: 'gemini', api_key: 'key-of-nobody' },
      },
    },
  })),
)
beforeEach(() => played.upstream.reset())

const messages = [{ role: 'user' as const, content: 'hi' }]

function failureOf(stream: boolean, model = 'gemini-2.5-flash') {
  return played.client.chat.completions.create({ model, messages, stream }).catch((thrown: unknown) => thrown)
}

describe.each([false, true])('with stream: %s', (stream) => {
  it.each([
    [400, OpenAI.BadRequestError, 400, 'bad_request'],
    [403, OpenAI.InternalServerError, 502, 'provider_error'],
    [404, OpenAI.NotFoundError, 404, 'not_found'],
    [429, OpenAI.RateLimitError, 429, 'rate_limited'],
    [500, OpenAI.InternalServerError, 502, 'provider_error'],
    [503, OpenAI.InternalServerError, 502, 'provider_error'],
  ])('status %i is an error of its kind', async (given, type, status, code) => {
    played.upstream.reply({ status: given })
    const error = await failureOf(stream)
    expect(error).toBeInstanceOf(type)
    expect(error).toMatchObject({ status, code })
  })

  it('a key that is none is the gateway’s affair, and is not told', async () => {
    const error = await failureOf(stream, 'wrong/gemini-2.5-flash')
    expect(error).toMatchObject({ status: 502, message: expect.stringContaining('refused') })
    expect(String(error)).not.toContain('key-of-nobody')
  })

  it('a place that is not served is not the caller’s mistake', async () => {
    const said = { type: 'FAILED_PRECONDITION', message: 'User location is not supported for the API use.' }
    played.upstream.reply({ status: 400, error: said })
    expect(await failureOf(stream)).toMatchObject({ status: 502, code: 'provider_error' })
  })

  it('a wait is passed on', async () => {
    played.upstream.reply({ retryAfter: 17, headers: { 'retry-after': null } })
    const error = await failureOf(stream)
    expect(error).toBeInstanceOf(OpenAI.RateLimitError)
    expect((error as InstanceType<typeof OpenAI.RateLimitError>).headers?.get('retry-after')).toBe('17')
  })

  it.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL'])(
    '%s is an error of its own',
    async (native) => {
      played.upstream.reply({ finishReason: native, content: [''] })
      expect(await failureOf(stream)).toMatchObject({
        status: 502,
        code: 'provider_error',
        type: native.toLowerCase(),
      })
    },
  )

  it.each([
    ['no JSON', 'nonsense'],
    ['no object', '[]'],
    ['no answer', '{}'],
  ])('an answer that makes no sense is a 502: %s', async (_, body) => {
    if (stream) played.upstream.reply({ chunks: [`data: ${body}\n\n`] })
    else played.upstream.reply({ body })
    expect(await failureOf(stream)).toMatchObject({ status: 502, code: 'provider_error' })
  })
})

it('a call that failed to be made is tried again', async () => {
  await played.gateway.module('retrypilot', { enabled: true })
  played.upstream.reply({ finishReason: 'MALFORMED_FUNCTION_CALL', content: [''] })
  const stream = await played.client.chat.completions.create({ model: 'gemini-2.5-flash', messages })
  await played.gateway.module('retrypilot', { enabled: false })
  expect(stream.choices[0]!.message.content).toBe('You said: hi')
  expect(played.upstream.requests).toHaveLength(2)
})

describe('a stream that has begun', () => {
  async function read() {
    const stream = await played.client.chat.completions.create({
      model: 'gemini-2.5-flash',
      messages,
      stream: true,
    })
    const read = { text: '', finish: [] as string[], error: undefined as unknown }
    try {
      for await (const { choices } of stream) {
        read.text += choices[0]?.delta.content ?? ''
        if (choices[0]?.finish_reason) read.finish.push(choices[0].finish_reason)
      }
    } catch (error) {
      read.error = error
    }
    return read
  }

  const content = ['one ', 'two ', 'three ', 'four']

  it.each([1, 2, 3])('and is cut after %i events never ends as if it were whole', async (cutAfter) => {
    played.upstream.reply({ content, cutAfter, gapMs: 20 })
    const { text, finish, error } = await read()
    expect(text).toBe(content.slice(0, cutAfter).join(''))
    expect(finish).toEqual([])
    expect(error).toBeInstanceOf(OpenAI.APIError)
  })

  it('and just stops never ends as if it were whole', async () => {
    const event = { candidates: [{ content: { parts: [{ text: 'one' }] } }] }
    played.upstream.reply({ chunks: [`data: ${JSON.stringify(event)}\r\n\r\n`] })
    const { text, finish, error } = await read()
    expect({ text, finish }).toEqual({ text: 'one', finish: [] })
    expect(error).toMatchObject({ code: 'provider_error' })
  })

  it('and reports an error ends with it', async () => {
    const event = { candidates: [{ content: { parts: [{ text: 'one' }] } }] }
    const failed = { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }
    const chunks = [event, failed].map((data) => `data: ${JSON.stringify(data)}\r\n\r\n`)
    played.upstream.reply({ chunks, gapMs: 50 })
    const { text, error } = await read()
    expect(text).toBe('one')
    expect(String(error)).toContain('overloaded')
  })

  it('is broken off at the provider when the client leaves', async () => {
    played.upstream.reply({ content, gapMs: 200 })
    const stream = await played.client.chat.completions.create({
      model: 'gemini-2.5-flash',
      messages,
      stream: true,
    })
    for await (const _ of stream) break
    await played.upstream.last().closed
    expect(played.upstream.last().aborted).toBe(true)
  })
})

it('a model’s name leads nowhere else', async () => {
  for (const model of ['gemini/../secrets', 'gemini/a/b/c', 'gemini/x:y', 'gemini/a?b', 'gemini/a%2e']) {
    expect(await failureOf(false, model)).toMatchObject({ status: 400, param: 'model' })
  }
  expect(played.upstream.requests).toEqual([])
})
