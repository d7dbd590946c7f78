import { tokenize } from '../openai/tokens.ts'
import type { RecordedRequest } from '../record.ts'
import type { Script } from '../script.ts'
import type { Answer } from '../wire.ts'
import { serviceHeaders } from './failure.ts'
import { eventFrame } from './frames.ts'
import { type Block, type Said, said, shape, usageOf } from './turn.ts'

/** POST /model/{id}/converse and …/converse-stream. */
export function converse(request: RecordedRequest, script: Script, streams: boolean): Answer {
  const asked = shape.parse(request.body)
  const answer = said(asked, script)
  const usage = script.usage === undefined ? usageOf(asked, answer) : script.usage
  if (streams) {
    return {
      status: 200,
      headers: serviceHeaders(request, 'application/vnd.amazon.eventstream'),
      stream: true,
      frames: script.chunks ?? events(answer, usage),
    }
  }
  const body = script.body ?? {
    output: { message: { role: 'assistant', content: answer.blocks } },
    stopReason: answer.stopReason,
    ...(usage && { usage }),
    metrics: { latencyMs: 12 },
  }
  return {
    status: 200,
    headers: serviceHeaders(request, 'application/json'),
    stream: false,
    frames: [typeof body === 'string' ? body : JSON.stringify(body)],
  }
}

/** The events of a streamed answer, each as the frame that is sent; what it cost comes after its end. */
function events({ blocks, deltas, stopReason }: Said, usage: unknown): Uint8Array[] {
  return [
    eventFrame('messageStart', { role: 'assistant' }),
    ...blocks.flatMap((block, index) => blockEvents(block, index, deltas)),
    eventFrame('messageStop', { stopReason }),
    eventFrame('metadata', { ...(usage ? { usage } : {}), metrics: { latencyMs: 12 } }),
  ]
}

function blockEvents(block: Block, contentBlockIndex: number, texts: readonly string[]): Uint8Array[] {
  const { start, deltas } = parts(block, texts)
  return [
    ...(start ? [eventFrame('contentBlockStart', { start, contentBlockIndex })] : []),
    ...deltas.map((delta) => eventFrame('contentBlockDelta', { delta, contentBlockIndex })),
    eventFrame('contentBlockStop', { contentBlockIndex }),
  ]
}

/** Only tool calls begin with an event. */
function parts(block: Block, texts: readonly string[]): { start?: object; deltas: readonly object[] } {
  if (block.toolUse) {
    const { input, ...toolUse } = block.toolUse as { input: object }
    const json = Object.keys(input).length === 0 ? [] : tokenize(JSON.stringify(input))
    return { start: { toolUse }, deltas: json.map((piece) => ({ toolUse: { input: piece } })) }
  }
  if (block.reasoningContent) {
    const { reasoningText } = block.reasoningContent as { reasoningText: { text: string; signature: string } }
    const thoughts = tokenize(reasoningText.text).map((text) => ({ reasoningContent: { text } }))
    return { deltas: [...thoughts, { reasoningContent: { signature: reasoningText.signature } }] }
  }
  return { deltas: texts.map((text) => ({ text })) }
}
