import type { NativeError } from './errors.ts'
import type { Stop } from './finish.ts'
import type { Block } from './native.ts'
import type { NativeUsage } from './usage.ts'

export interface NativeEvent {
  readonly type?: string
  readonly index?: number
  readonly message?: Stop & {
    readonly id?: string
    readonly model?: string
    readonly content?: readonly Block[] | null
    readonly usage?: NativeUsage
  }
  readonly content_block?: Block
  readonly delta?: Stop & {
    readonly type?: string
    readonly text?: string
    readonly partial_json?: string
    readonly thinking?: string
    readonly signature?: string
    readonly citation?: unknown
  }
  readonly usage?: NativeUsage | null
  readonly error?: NativeError
}

/** A block that has begun and not ended. */
export interface OpenBlock {
  readonly block: Block
  /** Which of the tool calls it is; undefined for other blocks. */
  readonly call: number | undefined
  json: string
  /** The content of a block whose kind is not known here. */
  readonly more: Record<string, unknown>
}

/** Adds what a delta of an unknown kind brings to its block: texts go on, the rest is as it was said last. */
export function grow(block: Record<string, unknown>, { type: _, ...fields }: Record<string, unknown>): void {
  for (const field in fields) {
    const [before, value] = [block[field], fields[field]]
    if (typeof before === 'string' && typeof value === 'string') block[field] = before + value
    else if (value !== null && value !== undefined) block[field] = value
  }
}
