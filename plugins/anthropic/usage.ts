import type { WireUsage } from '#kernel'
import { usageFromCounts } from '#provider'

/** Tokens of one kind of work: those read from and written to the cache are not part of `input_tokens`. */
interface Tokens {
  readonly input_tokens?: number | null
  readonly output_tokens?: number | null
  readonly cache_read_input_tokens?: number | null
  readonly cache_creation_input_tokens?: number | null
  readonly cache_creation?: {
    readonly ephemeral_5m_input_tokens?: number | null
    readonly ephemeral_1h_input_tokens?: number | null
  } | null
}

/** Usage as the service reports it. */
export interface NativeUsage extends Tokens {
  readonly output_tokens_details?: { readonly thinking_tokens?: number | null } | null
  readonly server_tool_use?: unknown
  readonly service_tier?: unknown
  /** Rounds that the answer took. Only here is the usage of compacting the conversation. */
  readonly iterations?: readonly (Tokens & { readonly type?: string })[] | null
}

/** The newer report over the older: its figures are totals, so they replace; those it leaves out stay. */
export function mergeUsage(older: NativeUsage, newer: NativeUsage | null | undefined): NativeUsage {
  const given = Object.entries(newer ?? {}).filter(([, value]) => value !== null && value !== undefined)
  return { ...older, ...Object.fromEntries(given) }
}

/** The report in OpenAI's terms, where the prompt's tokens are all there are: those of compacting it included. */
export function wireUsage(native: NativeUsage): WireUsage {
  const compacting = (native.iterations ?? []).filter(({ type }) => type === 'compaction')
  const all: readonly Tokens[] = [native, ...compacting]
  const sum = (of: (tokens: Tokens) => number): number => all.reduce((total, one) => total + of(one), 0)
  const usage = usageFromCounts({
    fresh: sum(({ input_tokens: fresh }) => fresh ?? 0),
    read: sum(({ cache_read_input_tokens: read }) => read ?? 0),
    written: sum(writtenIn),
    writtenForAnHour: sum(({ cache_creation: made }) => made?.ephemeral_1h_input_tokens ?? 0),
    output: sum(({ output_tokens: output }) => output ?? 0),
    reasoning: native.output_tokens_details?.thinking_tokens ?? undefined,
  })
  const { server_tool_use } = native
  return server_tool_use === undefined || server_tool_use === null ? usage : { ...usage, server_tool_use }
}

const writtenIn = ({ cache_creation_input_tokens: written, cache_creation: made }: Tokens): number =>
  written ?? (made?.ephemeral_5m_input_tokens ?? 0) + (made?.ephemeral_1h_input_tokens ?? 0)
