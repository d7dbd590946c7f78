import { expect, test } from 'vitest'
import { StreamReply, WholeReply } from '../../kernel/call/reply.ts'
import { collect } from '../../kernel/stream/collect.ts'
import { oneByOne } from '../../test/chain.ts'
import { Chunk } from '../canonical/chunk.ts'
import type { ChoiceDelta, Completion } from '../canonical/forms.ts'
import { type ContentWriter, writeContent, writingInTurns } from './content-writer.ts'

/** Upper case, in words; what has no space behind it waits. */
class Shouting implements ContentWriter {
  #rest = ''

  async push(text: string): Promise<string[]> {
    const words = (this.#rest + text).split(/(?<= )/)
    this.#rest = words.at(-1)!.endsWith(' ') ? '' : words.pop()!
    return words.map((word) => word.toUpperCase())
  }

  end(text: string): string[] {
    return [(this.#rest + text).toUpperCase()]
  }
}

const chunk = (...choices: ChoiceDelta[]): Chunk =>
  Chunk.of({ id: 'c1', object: 'chat.completion.chunk', choices })
const says = (content: string, index = 0): ChoiceDelta => ({ index, delta: { content } })
const end: ChoiceDelta = { index: 0, delta: {}, finish_reason: 'stop' }

async function written(...batches: Chunk[][]): Promise<Chunk[]> {
  const source = (async function* () {
    yield* batches
  })()
  const reply = await writeContent(new StreamReply('openai', source), () => new Shouting())
  const chunks: Chunk[] = []
  for await (const batch of (reply as StreamReply).chunks) chunks.push(...batch)
  return chunks
}

const texts = (chunks: readonly Chunk[]): unknown[] =>
  chunks.flatMap(({ data }) => data.choices.map(({ delta }) => delta?.content)).filter(Boolean)

test('parts leave when they are ready, each as a chunk, and the rest before the end', async () => {
  const chunks = await written(
    [chunk({ index: 0, delta: { role: 'assistant', content: 'on' } })],
    [chunk(says('e t'))],
    [chunk(says('wo th')), chunk(end)],
  )
  expect(texts(chunks)).toEqual(['ONE ', 'TWO TH'])
  expect(chunks[0]!.data.choices[0]!.delta).toEqual({ role: 'assistant' })
  expect(chunks.at(-1)!.data.choices[0]!.finish_reason).toBe('stop')
  expect(chunks.every(({ data }) => data.id === 'c1')).toBe(true)
})

test('choices are kept apart, and a stream without an end loses nothing', async () => {
  const chunks = await written([chunk(says('a '), says('x ', 1)), chunk(says('b'), says('y', 1))])
  expect(texts(chunks)).toEqual(['A ', 'X ', 'B', 'Y'])
})

test('a text leaves before the call of a tool that follows it, and reasoning stays as it is', async () => {
  const thought = chunk({ index: 0, delta: { reasoning_content: 'hm' } })
  const call = chunk({ index: 0, delta: { tool_calls: [{ index: 0, id: 't', function: { name: 'f' } }] } })
  const chunks = await written([thought, chunk(says('look')), call, chunk(end)])
  expect(chunks[0]).toBe(thought)
  expect(texts(chunks.slice(0, 2))).toEqual(['LOOK'])
  expect(chunks[2]).toBe(call)
})

test('usage beside a text stays, and its log probabilities go', async () => {
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  const [last] = (
    await written([
      Chunk.of({ choices: [{ ...says('a'), logprobs: { content: [] }, finish_reason: 'stop' }], usage }),
    ])
  ).slice(-1)
  expect(last!.data).toEqual({
    choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }],
    usage,
  })
})

test('a plain answer is what the stream adds up to, and one that stays the same keeps its bytes', async () => {
  const body: Completion = {
    choices: [{ index: 0, message: { role: 'assistant', content: 'one two' }, finish_reason: 'stop' }],
  }
  const shouted = await writeContent(WholeReply.of(body), () => new Shouting())
  expect((await collect(shouted)).choices![0]!.message!.content).toBe('ONE TWO')
  const loud = WholeReply.fromBytes('openai', Buffer.from(JSON.stringify(body).toUpperCase()), {
    choices: [{ index: 0, message: { role: 'assistant', content: 'ONE' }, finish_reason: 'stop' }],
  })
  expect(await writeContent(loud, () => new Shouting())).toBe(loud)
})

test('a long text is given to a writer that does not mind in parts, plain and streamed', async () => {
  const text = 'one two three '.repeat(2000)
  let longest = 0
  class Watched extends Shouting {
    override push(part: string): Promise<string[]> {
      longest = Math.max(longest, part.length)
      return super.push(part)
    }
    override end(part: string): string[] {
      longest = Math.max(longest, part.length)
      return super.end(part)
    }
  }
  const begin = (): ContentWriter => writingInTurns(new Watched())
  const message = { role: 'assistant' as const, content: text }
  const plain = WholeReply.of({ choices: [{ index: 0, message, finish_reason: 'stop' }] })
  const streamed = new StreamReply('', oneByOne([chunk(says(text)), chunk(end)]))
  for (const reply of [plain, streamed]) {
    const shouted = await collect(await writeContent(reply, begin))
    expect(shouted.choices![0]!.message!.content === text.toUpperCase()).toBe(true)
  }
  expect(longest).toBeLessThan(text.length / 8)
})
