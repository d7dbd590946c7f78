import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '../../../kit/canonical/forms.ts'
import { question, weather } from '../../../test/weather.ts'
import { imageTokens } from './images.ts'
import { countRequest } from './request.ts'
import { encodingOf } from './tokenizer.ts'
import { Tokenizers } from './tokenizers.ts'

const tokenizers = new Tokenizers()

const count = async (request: ModelRequest) => countRequest(request, await tokenizers.load(request.model))

/** The examples of OpenAI's cookbook, whose counts its API has confirmed. */
const jargon: ModelRequest['messages'] = [
  {
    role: 'system',
    content:
      'You are a helpful, pattern-following assistant that translates corporate jargon into plain English.',
  },
  { role: 'system', name: 'example_user', content: 'New synergies will help drive top-line growth.' },
  {
    role: 'system',
    name: 'example_assistant',
    content: 'Things working well together will increase revenue.',
  },
  {
    role: 'system',
    name: 'example_user',
    content:
      "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage.",
  },
  {
    role: 'system',
    name: 'example_assistant',
    content: "Let's talk later when we're less busy about how to do better.",
  },
  {
    role: 'user',
    content: "This late pivot means we don't have time to boil the ocean for the client deliverable.",
  },
]

describe('a request', () => {
  it.each([
    ['gpt-4o', 124],
    ['gpt-4', 129],
    ['gpt-3.5-turbo', 129],
  ])('takes of %s what its maker says it takes', async (model, tokens) => {
    expect(await count({ model, messages: jargon })).toMatchObject({ tokens, quality: 'tokenizer' })
  })

  it.each([
    ['gpt-4o', 101],
    ['gpt-4', 105],
  ])('with tools takes of %s what its maker says it takes, and is marked', async (model, tokens) => {
    const counted = await count({ model, messages: question, tools: [weather] })
    expect(counted).toMatchObject({ tokens, quality: 'rules' })
    expect(counted.tools).toBeGreaterThan(0)
  })

  it('for a model without a published tokenizer is an estimate, and says so', async () => {
    const counted = await count({ model: 'claude-sonnet-4-5', messages: jargon })
    expect(counted).toMatchObject({ by: 'estimate', quality: 'estimate' })
    expect(counted.tokens).toBeGreaterThan(80)
  })

  it('with a part that no rule is known for is an estimate', async () => {
    const content = [{ type: 'text', text: 'hi' } as const, { type: 'input_audio', input_audio: {} }]
    expect(await count({ model: 'gpt-4o', messages: [{ role: 'user', content }] })).toMatchObject({
      by: 'o200k_base',
      quality: 'estimate',
    })
  })

  it('to embed is its texts, and tokens that were given as such', async () => {
    const model = 'text-embedding-3-small'
    expect(await count({ model, input: ['hello world', 'hello'] })).toMatchObject({ tokens: 3 })
    expect(await count({ model, input: [1, 2, 3] })).toMatchObject({ tokens: 3, quality: 'tokenizer' })
  })

  it('never has fewer tokens for more messages', async () => {
    const tokenizer = await tokenizers.load('gpt-4o')
    const message = fc.record({ role: fc.constantFrom('user', 'assistant'), content: fc.string() } as const)
    fc.assert(
      fc.property(fc.array(message), message, (messages, last) => {
        const of = (all: ModelRequest['messages'] & object) =>
          countRequest({ model: 'gpt-4o', messages: all }, tokenizer).tokens
        expect(of([...messages, last])).toBeGreaterThan(of(messages))
      }),
    )
  })
})

describe('a tokenizer', () => {
  it.each([
    ['gpt-4o-2024-08-06', 'o200k_base'],
    ['openai/gpt-4.1-mini', 'o200k_base'],
    ['GPT-5.2', 'o200k_base'],
    ['o3', 'o200k_base'],
    ['o4-mini-2025-04-16', 'o200k_base'],
    ['ft:gpt-4o-mini:acme::id', 'o200k_base'],
    ['openai/gpt-oss-120b', 'o200k_harmony'],
    ['gpt-4', 'cl100k_base'],
    ['gpt-4-turbo', 'cl100k_base'],
    ['gpt-3.5-turbo', 'cl100k_base'],
    ['gpt-35-turbo', 'cl100k_base'],
    ['text-embedding-3-large', 'cl100k_base'],
    ['gpt-6-sol', undefined],
    ['claude-opus-5', undefined],
    ['opus', undefined],
    ['gemini-2.5-pro', undefined],
  ])('of %s is %s', (model, encoding) => {
    expect(encodingOf(model)).toBe(encoding)
  })

  it('takes texts that look like control tokens for what they are: texts', async () => {
    const { count } = await tokenizers.load('gpt-4o')
    expect(count('<|endoftext|>')).toBeGreaterThan(1)
  })

  it('counts long runs without a space in time that grows with their length, and nearly right', async () => {
    const { count } = await tokenizers.load('gpt-4o')
    const started = performance.now()
    expect(count('a'.repeat(200_000))).toBeGreaterThan(20_000)
    expect(count('漢字かな'.repeat(20_000))).toBeGreaterThan(20_000)
    expect(performance.now() - started).toBeLessThan(10_000)
    const prose = 'The quick brown fox jumps over the lazy dog. '.repeat(50)
    expect(count(`${prose}${'x'.repeat(300)}`)).toBeGreaterThanOrEqual(count(prose))
  })
})

describe('an image', () => {
  const png = (width: number, height: number): string => {
    const head = Buffer.alloc(33)
    head.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13])
    head.write('IHDR', 12)
    head.writeUInt32BE(width, 16)
    head.writeUInt32BE(height, 20)
    return `data:image/png;base64,${head.toString('base64')}`
  }

  it.each([
    ['gpt-4o', { url: png(1024, 1024), detail: 'high' }, 765],
    ['gpt-4o', { url: png(2048, 4096), detail: 'high' }, 1105],
    ['gpt-4o', { url: png(4096, 8192), detail: 'low' }, 85],
    ['gpt-4.1-mini', { url: png(1024, 1024) }, 1659],
    ['claude-sonnet-4-5', { url: png(1000, 1000) }, 1334],
    ['gemini-2.5-pro', { url: png(300, 300) }, 258],
    ['gemini-2.5-pro', { url: png(1000, 700) }, 516],
  ])('of %s takes what its maker documents', (model, image, tokens) => {
    expect(imageTokens(model, image)).toEqual({ tokens, known: true })
  })

  it('whose size nobody can know is assumed, and marked', async () => {
    const content = [{ type: 'image_url', image_url: { url: 'https://example.com/x.png' } }]
    const counted = await count({ model: 'gpt-4o', messages: [{ role: 'user', content }] })
    expect(counted).toMatchObject({ images: 765, quality: 'estimate' })
    expect(imageTokens('gpt-4o', { url: 'data:image/png;base64,AAAA' })).toEqual({
      tokens: 765,
      known: false,
    })
  })
})
