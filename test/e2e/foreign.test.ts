import Anthropic from '@anthropic-ai/sdk'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { cohere } from '../conformance/providers/cohere.ts'
import { gemini } from '../conformance/providers/gemini.ts'
import { openai } from '../conformance/providers/openai.ts'
import { startStand } from '../conformance/stand.ts'
import { shared } from '../shared.ts'

/** What only Claude knows, sent to others by Anthropic's own client: carried, or named, or refused by name. */

const providers = [openai, gemini, cohere]
const stand = shared(() => startStand(providers))
let client: Anthropic

beforeAll(() => {
  client = new Anthropic({ baseURL: stand.gateway.url, apiKey: stand.key, maxRetries: 0 })
})

beforeEach(() => stand.reset())

describe.each(providers)('to $name', (provider) => {
  const ask = async (fields: object) => {
    const params = { model: `${provider.name}/${provider.models.chat}`, max_tokens: 500, ...fields }
    const { response } = await client.messages
      .create(params as Anthropic.MessageCreateParamsNonStreaming)
      .withResponse()
    return {
      sent: stand.upstream(provider).last().rawBody,
      changed: response.headers.get('x-params-changed')?.split(', ') ?? [],
    }
  }
  const user = (...content: object[]) => [{ role: 'user', content }]
  const text = { type: 'text', text: 'What does it say?' }
  const document = (source: object, more: object = {}) => ({ type: 'document', source, ...more })

  test('documents of text are carried as their text, with their titles', async () => {
    const plain = document(
      { type: 'text', media_type: 'text/plain', data: 'The moon is far.' },
      { title: 'On the moon' },
    )
    const inner = document({ type: 'content', content: [{ type: 'text', text: 'The sun is farther.' }] })
    const found = {
      type: 'search_result',
      source: 'https://example.com',
      title: 'Stars',
      content: [{ type: 'text', text: 'They are farther still.' }],
    }
    const { sent, changed } = await ask({ messages: user(plain, inner, found, text) })
    const said = [
      'On the moon',
      'The moon is far.',
      'The sun is farther.',
      'Stars',
      'They are farther still.',
    ]
    for (const words of said) expect(sent).toContain(words)
    expect(changed).toEqual([])
  })

  test('a PDF is carried where files are taken, and refused by name where not', async () => {
    const pdf = document(
      { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQK' },
      { title: 'a.pdf' },
    )
    const asked = ask({ messages: user(pdf, text) })
    if (provider === cohere)
      await expect(asked).rejects.toThrow('messages[0].content[0].type: Cohere does not support content')
    else expect((await asked).sent).toContain('JVBERi0xLjQK')
  })

  test('a document at an address is fetched by who can, and refused by others', async () => {
    const asked = ask({ messages: user(document({ type: 'url', url: 'https://example.com/a.pdf' }), text) })
    if (provider === gemini) expect((await asked).sent).toContain('"fileUri":"https://example.com/a.pdf"')
    else await expect(asked).rejects.toBeInstanceOf(Anthropic.BadRequestError)
  })

  test('a document that Anthropic keeps is refused', async () => {
    const kept = document({ type: 'file', file_id: 'file_123' })
    await expect(ask({ messages: user(kept, text) })).rejects.toBeInstanceOf(Anthropic.BadRequestError)
    expect(stand.upstream(provider).requests).toHaveLength(0)
  })

  test('marks and parameters for Claude alone are left out and named', async () => {
    const cache_control = { type: 'ephemeral' }
    const { changed, sent } = await ask({
      system: [{ type: 'text', text: 'Be brief.', cache_control }],
      messages: user({ ...text, cache_control }),
      tools: [{ name: 'weather', input_schema: { type: 'object', properties: { a: {} } }, cache_control }],
      metadata: { user_id: 'u', other: 1 },
      container: 'c',
      speed: 'fast',
    })
    expect(sent).toContain('Be brief.')
    expect(sent).not.toContain('cache_control')
    expect(changed).toEqual(
      expect.arrayContaining(['-cache_control', '-tools.cache_control', '-metadata', '-container', '-speed']),
    )
  })

  test('how it is to sample is carried as far as it is known there', async () => {
    const { sent, changed } = await ask({ messages: user(text), top_k: 7, top_p: 0.5, temperature: 0.5 })
    if (provider === openai) expect(changed).toEqual(['-top_k'])
    else
      expect(JSON.parse(sent)).toMatchObject(
        provider === gemini ? { generationConfig: { topK: 7 } } : { k: 7 },
      )
  })

  test('thinking is carried to models that think, and named where it is not', async () => {
    const thinking = { type: 'enabled', budget_tokens: 2048 }
    const thinks = {
      model: `${provider.name}/${provider.models.reasoning ?? provider.models.chat}`,
      max_tokens: 9000,
    }
    const { changed } = await ask({ ...thinks, messages: user(text), thinking })
    expect(changed).not.toContain('-thinking')
    const not = { openai: 'gpt-4o-mini', gemini: 'gemini-2.0-flash', cohere: 'command-a-03-2025' }[
      provider.name
    ]
    const other = await ask({
      model: `${provider.name}/${not}`,
      max_tokens: 9000,
      messages: user(text),
      thinking,
    })
    expect(other.changed).toContain('-thinking')
  })

  test('a tool that failed says so, or that it cannot be said is named', async () => {
    const { sent, changed } = await ask({
      tools: [{ name: 'weather', input_schema: { type: 'object', properties: { a: {} } } }],
      messages: [
        ...user(text),
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'weather', input: {} }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'a', is_error: true, content: 'no such city' }],
        },
      ],
    })
    expect(sent).toContain('no such city')
    if (provider === gemini) expect(sent).toContain('"response":{"error":"no such city"}')
    else expect(changed).toContain('-messages.is_error')
  })
})
