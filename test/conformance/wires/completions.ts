import OpenAI from 'openai'
import type { Answer, Ask, ClientWire, WireClient } from './client.ts'
import { problemOf } from './openai.ts'

/** The legacy wire: one text goes in and one comes out. */
export const completions: ClientWire = {
  id: 'completions',
  path: '/v1/completions',
  operation: 'completion',
  features: [
    'plain',
    'stream',
    'usage',
    'errors',
    'mid-stream error',
    'broken off',
    'ends at its end',
    'abort',
  ],
  connect: (url, key) => new CompletionsClient(url, key),
}

class CompletionsClient implements WireClient {
  readonly problemOf = problemOf
  readonly #client: OpenAI

  constructor(url: string, apiKey: string) {
    this.#client = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })
  }

  async ask({ model, turns, stream, signal, onPiece }: Ask): Promise<Answer> {
    const prompt = turns.map((turn) => ('text' in turn ? turn.text : '')).join('\n')
    const options = signal ? { signal } : {}
    if (!stream) {
      const { data, response } = await this.#client.completions
        .create({ model, prompt }, options)
        .withResponse()
      const { text, finish_reason } = data.choices[0]!
      return answerOf(text, finish_reason, data.usage, 0, response.headers)
    }
    const { data, response } = await this.#client.completions
      .create({ model, prompt, stream, stream_options: { include_usage: true } }, options)
      .withResponse()
    const texts: string[] = []
    let finish = ''
    let usage: OpenAI.CompletionUsage | undefined
    for await (const chunk of data) {
      usage = chunk.usage ?? usage
      for (const choice of chunk.choices) {
        if (choice.text) texts.push(choice.text)
        finish = choice.finish_reason ?? finish
      }
      onPiece?.()
    }
    return answerOf(texts.join(''), finish, usage, texts.length, response.headers)
  }
}

const answerOf = (
  text: string,
  stop: string,
  usage: OpenAI.CompletionUsage | undefined,
  pieces: number,
  headers: Headers,
): Answer => ({
  text,
  reasoning: '',
  calls: [],
  stop,
  usage: { input: usage?.prompt_tokens ?? 0, output: usage?.completion_tokens ?? 0, cached: 0, reasoning: 0 },
  pieces,
  headers,
  native: text,
})
