import type { WireUsage } from './canonical.ts'

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

const count = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.trunc(value) : 0

/** Usage as OpenAI-like providers report it; missing and nonsensical numbers count as zero. */
export function fromWireUsage(wire: WireUsage): Usage {
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

/** The sum of two; a part that was estimated makes the sum an estimate. */
export function addUsage(a: Usage, b: Usage): Usage {
  if (a.source === 'none') return b
  if (b.source === 'none') return a
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
