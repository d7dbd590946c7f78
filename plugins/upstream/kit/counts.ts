import type { WireUsage } from '#kernel'

/** Tokens as Anthropic's models are counted everywhere: those of the prompt's cache are not part of `fresh`. */
export interface Counts {
  readonly fresh: number
  readonly read: number
  readonly written: number
  /** Of the written ones, those that stay for an hour. */
  readonly writtenForAnHour: number
  readonly output: number
  /** Of the output; undefined when nothing is said of it. */
  readonly reasoning?: number | undefined
}

/** The counts in OpenAI's terms, where the prompt's tokens are all there are. */
export function usageFromCounts({
  fresh,
  read,
  written,
  writtenForAnHour,
  output,
  reasoning,
}: Counts): WireUsage {
  const prompt = fresh + read + written
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: {
      cached_tokens: read,
      cache_write_5m_tokens: Math.max(0, written - writtenForAnHour),
      cache_write_1h_tokens: Math.min(writtenForAnHour, written),
    },
    ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  }
}
