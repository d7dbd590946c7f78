import type { Call, Completion, Outcome } from '#kernel'
import { answerTexts, isModelRefusal, type LanguageDetector } from '#kit'

/** The metrics of answers, in the order in which an answer has them. */
export const metrics = ['answer_length', 'refusal_rate', 'json_validity', 'language', 'latency_ms'] as const
export type Metric = (typeof metrics)[number]

/** Numbers fall into bins, and words are counted. */
export const isNumeric = (metric: Metric): boolean => metric === 'answer_length' || metric === 'latency_ms'

/** One answer by its metrics; undefined where it says nothing of one. */
export type Answer = Readonly<Record<Metric, number | string | undefined>>

/** Longer texts are not looked at for JSON, because parsing them holds up other calls. */
const longestJson = 1_000_000

/** The answer of a call that ended well; undefined where there is none to look at. */
export function answerOf(
  body: Completion | undefined,
  { latencyMs }: Outcome,
  call: Call,
  languageOf: LanguageDetector,
): Answer | undefined {
  const message = body?.choices?.[0]?.message
  if (!body || !message) return undefined
  const texts = answerTexts(body)
  const text = typeof message.content === 'string' ? message.content : ''
  return {
    answer_length: texts.reduce((sum, { length }) => sum + length, 0),
    refusal_rate: isModelRefusal(message.refusal, text) ? 'refused' : 'answered',
    json_validity:
      isJsonAsked(call) && text.length <= longestJson ? (isJson(text) ? 'valid' : 'invalid') : undefined,
    language: text === '' ? undefined : (languageOf(text) ?? 'unknown'),
    latency_ms: latencyMs,
  }
}

function isJsonAsked({ request }: Call): boolean {
  const type = request.response_format?.type
  return type === 'json_object' || type === 'json_schema'
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
