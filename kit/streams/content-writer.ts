import { type Reply, WholeReply } from '../../kernel/call/reply.ts'
import { Chunk, envelopeOf } from '../canonical/chunk.ts'
import type { Completion, CompletionChunk, Delta } from '../canonical/forms.ts'
import type { Awaitable } from '../work/continue-with.ts'
import { takingTurns } from '../work/turns.ts'

/** Writes what a model says anew, for one choice of an answer. */
export interface ContentWriter {
  /** The parts that are ready once this text has come, each a chunk of a stream. */
  push(text: string): Awaitable<readonly string[]>
  /** The parts that are left when the answer ends with this text, or stops for a call of a tool. */
  end(text: string): Awaitable<readonly string[]>
}

/** Characters that a writer is given without a turn for other work. */
const partLength = 2048

/** A writer that does not mind how a text arrives, and is given long ones in parts, with turns for other work in between. */
export function writingInTurns(writer: ContentWriter): ContentWriter {
  const turn = takingTurns()
  const push = async (text: string): Promise<string[]> => {
    const ready: string[] = []
    for (let at = 0; at < text.length; at += partLength) {
      await turn()
      ready.push(...(await writer.push(text.slice(at, at + partLength))))
    }
    return ready
  }
  return {
    push: (text) => (text.length > partLength ? push(text) : writer.push(text)),
    end: async (text) =>
      text.length > partLength ? [...(await push(text)), ...(await writer.end(''))] : writer.end(text),
  }
}

/**
 * The answer with its content written anew; reasoning, refusals and calls of tools stay. A plain answer is given to `end` in one piece. Of a
 * stream, what one read brought is pushed together, and the next read waits for it. Log probabilities of what was rewritten go.
 */
export async function writeContent(reply: Reply, begin: () => ContentWriter): Promise<Reply> {
  if (reply.kind === 'stream') return reply.through(rewritten(reply.chunks, begin))
  const body = await rewrittenBody(reply.body, begin)
  return body === reply.body ? reply : WholeReply.of(body)
}

async function rewrittenBody(body: Completion, begin: () => ContentWriter): Promise<Completion> {
  let isChanged = false
  const choices = await Promise.all(
    (body.choices ?? []).map(async (choice) => {
      const said = choice.message?.content
      if (typeof said !== 'string' || said === '') return choice
      const content = (await begin().end(said)).join('')
      if (content === said) return choice
      isChanged = true
      return {
        ...choice,
        message: { ...choice.message!, content },
        ...('logprobs' in choice && { logprobs: null }),
      }
    }),
  )
  return isChanged ? { ...body, choices } : body
}

/** A choice of a stream: its writer, and text that it was not given yet. */
interface Lane {
  readonly writer: ContentWriter
  text: string
}

async function* rewritten(
  chunks: AsyncIterable<readonly Chunk[]>,
  begin: () => ContentWriter,
): AsyncGenerator<readonly Chunk[]> {
  const lanes = new Map<number, Lane>()
  let envelope: Omit<CompletionChunk, 'choices'> = { object: 'chat.completion.chunk' }
  const chunkOf = (index: number, content: string): Chunk =>
    Chunk.of({ ...envelope, choices: [{ index, delta: { content }, finish_reason: null }] })

  async function* ended(index: number, { writer, text }: Lane): AsyncGenerator<Chunk> {
    lanes.delete(index)
    for (const part of await writer.end(text)) if (part !== '') yield chunkOf(index, part)
  }

  for await (const batch of chunks) {
    const out: Chunk[] = []
    for (const chunk of batch) {
      const { choices } = chunk.data
      envelope = envelopeOf(chunk.data)
      const left = choices.map((choice) => {
        const { content, ...delta } = choice.delta ?? {}
        if (typeof content !== 'string' || content === '') return choice
        const lane = lanes.get(choice.index) ?? { writer: begin(), text: '' }
        lane.text += content
        lanes.set(choice.index, lane)
        return { ...choice, delta, ...('logprobs' in choice && { logprobs: null }) }
      })
      for (const { index, delta, finish_reason } of left) {
        const lane = lanes.get(index)
        if (lane && (finish_reason || stops(delta)))
          for await (const part of ended(index, lane)) out.push(part)
      }
      const isTouched = left.some((choice, at) => choice !== choices[at])
      if (!isTouched) out.push(chunk)
      else if (chunk.data.usage || left.some(({ delta, finish_reason }) => finish_reason || saysMore(delta)))
        out.push(chunk.with({ ...chunk.data, choices: left }))
    }
    for (const [index, lane] of lanes) {
      const { text } = lane
      lane.text = ''
      if (text !== '')
        for (const part of await lane.writer.push(text)) if (part !== '') out.push(chunkOf(index, part))
    }
    if (out.length > 0) yield out
  }
  for (const [index, lane] of lanes) for await (const part of ended(index, lane)) yield [part]
}

const stops = (delta: Delta = {}): boolean =>
  (delta.tool_calls?.length ?? 0) > 0 || Boolean(delta.function_call)

const saysMore = (delta: Delta = {}): boolean =>
  Object.values(delta).some((value) => value !== null && value !== undefined && value !== '')
