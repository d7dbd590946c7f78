import type { Prompt } from './prompt.ts'

export const ruleNames = [
  'empty',
  'placeholder',
  'contradiction',
  'no_format',
  'duplicate',
  'long_system',
  'injection_prone',
] as const
export type RuleName = (typeof ruleNames)[number]

export type Level = 'error' | 'warning'

/** A weakness of a prompt: never its text. */
export interface Weakness {
  /** The place in the request, such as `messages.0`. */
  readonly at: string
  /** How often it is there. */
  readonly count: number
}

export interface Limits {
  readonly max_system_tokens: number
}

export interface Rule {
  readonly level: Level
  /** What is wrong, and what to do about it. */
  readonly advice: string
  find(prompt: Prompt, limits: Limits): Weakness[]
}
