import type { RecordedRequest } from './record.ts'
import type { Script } from './script.ts'

/** An answer before it is sent: one frame for a plain body, many for a stream. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly stream: boolean
  readonly frames: readonly (string | Uint8Array)[]
}

/** What an upstream insists on. */
export interface Rules {
  /** Keys that are let in; empty lets in all. */
  readonly keys: readonly string[]
  /** Refuse what the real service refuses: unknown fields, bad roles, values out of range. */
  readonly strict: boolean
  /** Models that exist; any does when undefined. */
  readonly models: readonly string[] | undefined
}

/** One vendor's dialect. A new one is a folder beside `openai/` that exports one of these. */
export interface Wire {
  readonly name: string
  /** What a client's base URL ends with, such as `/v1`. */
  readonly basePath: string
  /** Whether a request is in this dialect, by its path and headers. */
  serves(request: RecordedRequest): boolean
  /** The error answer to a request that the real service would turn down; undefined for a good one. */
  refuse(request: RecordedRequest, rules: Rules): Answer | undefined
  /** The answer to a good request, as the script has it. */
  respond(request: RecordedRequest, script: Script, rules: Rules): Answer
  /** A scripted failure in this wire's error format. */
  fail(request: RecordedRequest, script: Script, status: number): Answer
}
