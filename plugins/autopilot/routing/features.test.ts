import { describe, expect, test } from 'vitest'
import type { Candidate, Capability, ModelRequest } from '#kernel'
import { lackOf, needsOf } from './features.ts'

const guard = { max_latency_ms: null, require_tools: false, require_json: false }
const asking = (fields: object): ModelRequest => ({
  model: 'm',
  messages: [{ role: 'user', content: 'Hi' }],
  ...fields,
})
const part = (type: string) => asking({ messages: [{ role: 'user', content: [{ type }] }] })
const tool = { type: 'function', function: { name: 'look' } }

describe('a request', () => {
  test.each<[string, ModelRequest, Capability[]]>([
    ['a plain chat', asking({}), []],
    ['tools', asking({ tools: [tool] }), ['tools']],
    ['an empty list of tools', asking({ tools: [] }), []],
    ['functions', asking({ functions: [{ name: 'look' }] }), ['tools']],
    [
      'a call of a tool that was made',
      asking({ messages: [{ role: 'assistant', tool_calls: [{}] }] }),
      ['tools'],
    ],
    ['the result of a tool', asking({ messages: [{ role: 'tool', content: '4' }] }), ['tools']],
    ['a JSON schema', asking({ response_format: { type: 'json_schema' } }), ['json_schema']],
    ['a JSON object', asking({ response_format: { type: 'json_object' } }), ['json_schema']],
    ['a text', asking({ response_format: { type: 'text' } }), []],
    ['an image', part('image_url'), ['vision']],
    ['an image of Responses', part('input_image'), ['vision']],
    ['audio', part('input_audio'), ['audio_input']],
    ['a video', part('video_url'), ['video']],
    ['a file', part('file'), ['files']],
    ['spoken answers', asking({ modalities: ['text', 'audio'] }), ['audio_output']],
    ['web search', asking({ web_search_options: {} }), ['web_search']],
  ])('with %s needs a model for it', (_, request, needs) => expect(needsOf(request, guard)).toEqual(needs))

  test('needs what the configuration demands of every model', () => {
    const demands = { ...guard, require_tools: true, require_json: true }
    expect(needsOf(asking({}), demands)).toEqual(['tools', 'json_schema'])
  })
})

describe('a place', () => {
  const place = (window: number | undefined, capabilities: object = {}) =>
    ({ provider: 'p', model: 'm', window, capabilities }) as Candidate

  test('lacks nothing that the request does not need', () => {
    expect(lackOf(place(1000), [], 1000)).toBeUndefined()
    expect(lackOf(place(1000, { tools: true }), ['tools'], 10)).toBeUndefined()
  })

  test('lacks what it is known not to have, and what is not known of it', () => {
    expect(lackOf(place(1000, { tools: false }), ['tools'], 10)).toBe('has no tools')
    expect(lackOf(place(1000), ['vision'], 10)).toBe('may have no vision')
    expect(lackOf(place(1000), [], 1001)).toContain('1000 tokens')
    expect(lackOf(place(undefined), [], 1)).toContain('not known')
  })
})
