import type { WireUsage } from './forms.ts'

/**
 * Tokens by class. `input` is all of the prompt, cached parts included; `output` all that was generated, reasoning
 * included; the other classes are parts of these two.
 */
export interface Usage {
  readonly input: number
  readonly output: number
  /** Of the input. */
  readonly cachedRead: number
  /** Of the input. */
  readonly cacheWrite5m: number
  /** Of the input. */
  readonly cacheWrite1h: number
  /** Of the output. */
  readonly reasoning: number
  /** Of the input. */
  readonly audioIn: number
  /** Of the output. */
  readonly audioOut: number
  /** Of the input. */
  readonly imageIn: number
  readonly source: 'provider' | 'estimated' | 'none'
}

export const noUsage: Usage = Object.freeze({
  input: 0,
  output: 0,
  cachedRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  reasoning: 0,
  audioIn: 0,
  audioOut: 0,
  imageIn: 0,
  source: 'none',
})

/**
 * Tokens of a class that one call has at the most, ten times what the largest models take. A sum over millions of calls
 * is still exact then.
 */
export const mostTokens = 100_000_000

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= mostTokens

const count = (value: unknown): number => (isCount(value) ? Math.trunc(value) : 0)

const isOdd = (value: unknown): boolean => value !== undefined && value !== null && !isCount(value)

/**
 * Usage as OpenAI-like providers report it. A part that is missing or no count of tokens is zero; a report whose prompt or
 * answer is no such count is not trusted at all, and counts as no report.
 */
export function fromWireUsage(wire: WireUsage): Usage {
  if (isOdd(wire.prompt_tokens) || isOdd(wire.completion_tokens)) return noUsage
  return {
    ...noUsage,
    input: count(wire.prompt_tokens),
    output: count(wire.completion_tokens),
    cachedRead: count(wire.prompt_tokens_details?.cached_tokens),
    cacheWrite5m: count(wire.prompt_tokens_details?.cache_write_5m_tokens),
    cacheWrite1h: count(wire.prompt_tokens_details?.cache_write_1h_tokens),
    audioIn: count(wire.prompt_tokens_details?.audio_tokens),
    imageIn: count(wire.prompt_tokens_details?.image_tokens),
    reasoning: count(wire.completion_tokens_details?.reasoning_tokens),
    audioOut: count(wire.completion_tokens_details?.audio_tokens),
    source: 'provider',
  }
}

/**
 * A report as the books take it, from any protocol: whole counts that a call can have, none of the
 * parts larger than its whole. Undefined when the prompt or the answer has no such count.
 */
export function believedUsage(report: Usage | undefined): Usage | undefined {
  if (!report || report.source === 'none' || !isCount(report.input) || !isCount(report.output))
    return undefined
  const input = Math.trunc(report.input)
  const output = Math.trunc(report.output)
  return {
    input,
    output,
    cachedRead: Math.min(count(report.cachedRead), input),
    cacheWrite5m: Math.min(count(report.cacheWrite5m), input),
    cacheWrite1h: Math.min(count(report.cacheWrite1h), input),
    reasoning: Math.min(count(report.reasoning), output),
    audioIn: Math.min(count(report.audioIn), input),
    audioOut: Math.min(count(report.audioOut), output),
    imageIn: Math.min(count(report.imageIn), input),
    source: report.source,
  }
}

/** The sum of two; a part that was estimated makes the sum an estimate. */
export function addUsage(a: Usage, b: Usage): Usage {
  if (a.source === 'none') return b
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cachedRead: a.cachedRead + b.cachedRead,
    cacheWrite5m: a.cacheWrite5m + b.cacheWrite5m,
    cacheWrite1h: a.cacheWrite1h + b.cacheWrite1h,
    reasoning: a.reasoning + b.reasoning,
    audioIn: a.audioIn + b.audioIn,
    audioOut: a.audioOut + b.audioOut,
    imageIn: a.imageIn + b.imageIn,
    source: a.source === 'estimated' || b.source === 'estimated' ? 'estimated' : 'provider',
  }
}
