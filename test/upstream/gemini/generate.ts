import { createHash } from 'node:crypto'
import { countTokens, tokenize } from '../openai/tokens.ts'
import type { RecordedRequest } from '../record.ts'
import type { Script } from '../script.ts'
import type { Answer } from '../wire.ts'
import { headers } from './failure.ts'
import { type GenerateBody, generateBody } from './schema.ts'
import { signatureOf, signs } from './signature.ts'
import type { GenerateAnswer, AnswerPart as Part } from './types.ts'

type Finish = NonNullable<GenerateAnswer['candidates']>[number]['finishReason']
type Usage = GenerateAnswer['usageMetadata']

/** POST …:generateContent and …:streamGenerateContent. */
export function generate(request: RecordedRequest, script: Script, model: string, stream: boolean): Answer {
  const { data } = generateBody.safeParse(request.body)
  const count = data?.generationConfig?.candidateCount ?? 1
  const parts = partsOf(script, data, model)
  const head = { modelVersion: model, responseId: idOf(request) }
  const usage = usageOf(script, request, parts)
  const finishReason = (script.finishReason ?? 'STOP') as Finish
  if (!stream) {
    const candidates = Array.from({ length: count }, (_, index) => ({
      content: { parts: joined(parts), role: 'model' },
      finishReason,
      index,
    }))
    const made: GenerateAnswer = { candidates, ...(usage && { usageMetadata: usage }), ...head }
    const body = script.body === undefined ? made : script.body
    const frame = typeof body === 'string' ? body : JSON.stringify(body)
    return {
      status: 200,
      headers: headers('application/json; charset=UTF-8'),
      stream: false,
      frames: [frame],
    }
  }
  // One part in each event, and the end with the last; usage grows.
  const events = parts.flatMap((part, at) =>
    Array.from(
      { length: count },
      (_, index): GenerateAnswer => ({
        candidates: [
          {
            content: { parts: [part], role: 'model' },
            ...(at === parts.length - 1 && { finishReason }),
            ...(index > 0 && { index }),
          },
        ],
        ...(usage && {
          usageMetadata: at === parts.length - 1 ? usage : { ...usage, candidatesTokenCount: at },
        }),
        ...head,
      }),
    ),
  )
  const frames = script.chunks ?? events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`)
  return { status: 200, headers: headers('text/event-stream'), stream: true, frames }
}

function partsOf(script: Script, body: GenerateBody | undefined, model: string): Part[] {
  const calls = (script.toolCalls ?? []).map((call, at) => {
    const args =
      typeof call.arguments === 'string'
        ? (JSON.parse(call.arguments) as Record<string, unknown>)
        : { ...call.arguments }
    return {
      functionCall: { ...(call.id !== undefined && { id: call.id }), name: call.name, args },
      ...(at === 0 && signs(model) && { thoughtSignature: signatureOf(call.name, args) }),
    }
  })
  const thoughts = script.reasoning === undefined ? [] : [{ text: script.reasoning, thought: true }]
  const said = script.content ?? (calls.length > 0 ? [] : `You said: ${lastText(body)}`)
  const texts = typeof said === 'string' ? tokenize(said) : said
  const parts = [...thoughts, ...texts.map((text) => ({ text })), ...calls]
  return parts.length > 0 ? parts : [{ text: '' }]
}

/** A plain answer has its text in one part. */
function joined(parts: readonly Part[]): Part[] {
  return parts.reduce<Part[]>((all, part) => {
    const last = all.at(-1)
    if (last && Object.keys(last).join() === 'text' && Object.keys(part).join() === 'text') {
      all[all.length - 1] = { text: `${String(last.text)}${String(part.text)}` }
    } else all.push(part)
    return all
  }, [])
}

function lastText(body: GenerateBody | undefined): string {
  const parts = body?.contents.findLast(({ role }) => role !== 'model')?.parts ?? []
  return parts.map(({ text = '' }) => text).join('')
}

function usageOf(script: Script, request: RecordedRequest, parts: readonly Part[]): Usage | null {
  if (script.usage !== undefined) return script.usage as Usage | null
  const prompt = countTokens(request.rawBody)
  const candidates = parts.filter(({ thought }) => !thought).length
  const thoughts = countTokens(script.reasoning)
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: candidates,
    totalTokenCount: prompt + candidates + thoughts,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: prompt }],
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
  }
}

const idOf = (request: RecordedRequest): string =>
  createHash('md5').update(`${request.ordinal} ${request.rawBody}`).digest('base64url')
