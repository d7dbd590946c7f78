import type { Choice, Completion } from '#kernel'
import { type Difference, differences, messageTexts, orderedJson, parseForeign, similarity } from '#kit'

export const matchMethods = ['exact', 'json', 'semantic'] as const
export type MatchMethod = (typeof matchMethods)[number]

export interface Comparison {
  readonly match_method: MatchMethod
  /** From 0 to 1, at four digits. */
  readonly match_score: number
  /** By their shapes: no text of a value is in them. */
  readonly differences: readonly Difference[]
}

/** What a choice says, and the tools that it calls. */
interface Said {
  readonly content: unknown
  readonly tool_calls?: readonly { readonly name: string; readonly arguments: unknown }[]
}

/** The method for an answer when none is asked for: `json` for one that is JSON or calls tools, else `semantic`. */
export const methodFor = (original: Completion): MatchMethod => (isJson(original) ? 'json' : 'semantic')

/** Whether every choice of an answer is a JSON object or list, or calls of tools alone. */
export function isJson({ choices = [] }: Completion): boolean {
  return choices.length > 0 && choices.every((choice) => isJsonChoice(saidBy(choice)))
}

/**
 * How much an answer is like another: `exact` is all or nothing, `json` the share of values that are equal at their places, and
 * `semantic` the share of words and pairs of words that they have in common.
 */
export function compare(original: Completion, replay: Completion, method: MatchMethod): Comparison {
  const [before, after] = [original, replay].map(({ choices = [] }) =>
    choices.map(saidBy).map(method === 'json' ? parsed : (said) => said),
  ) as [Said[], Said[]]
  return {
    match_method: method,
    match_score: Math.round(scores[method](before, after) * 10_000) / 10_000,
    differences: differences({ choices: before }, { choices: after }),
  }
}

const scores: Readonly<Record<MatchMethod, (before: readonly Said[], after: readonly Said[]) => number>> = {
  exact: (before, after) => (orderedJson(before) === orderedJson(after) ? 1 : 0),
  json: (before, after) => sharedLeaves(leavesOf(before), leavesOf(after)),
  semantic: (before, after) => similarity(textOf(before), textOf(after)),
}

function saidBy({ text, message }: Choice): Said {
  const content = text ?? (message ? messageTexts(message).join('') : '')
  const calls = (message?.tool_calls ?? []).map(({ function: called }) => ({
    name: called.name,
    arguments: jsonOf(called.arguments) ?? called.arguments,
  }))
  return calls.length === 0 ? { content } : { content, tool_calls: calls }
}

const parsed = ({ content, ...said }: Said): Said => ({ content: jsonIn(content) ?? content, ...said })

const isJsonChoice = ({ content, tool_calls }: Said): boolean =>
  content === '' ? tool_calls !== undefined : jsonIn(content) !== undefined

/** The object or list that a text is, also in a block of code. */
function jsonIn(content: unknown): object | undefined {
  if (typeof content !== 'string') return undefined
  const inner = /^\s*```(?:json)?\s*\n([\s\S]*?)\n```\s*$/.exec(content)?.[1] ?? content
  const value = jsonOf(inner)
  return typeof value === 'object' && value !== null ? value : undefined
}

/** Undefined for a text that is none. */
function jsonOf(text: string): unknown {
  try {
    return parseForeign(text)
  } catch {
    return undefined
  }
}

/** The values of a tree that have none below them, as JSON, by their places. */
function leavesOf(node: unknown, at = '', found = new Map<string, string>()): Map<string, string> {
  const below = typeof node === 'object' && node !== null ? Object.entries(node) : []
  if (below.length === 0) found.set(at, JSON.stringify(node))
  for (const [name, value] of below) leavesOf(value, `${at}/${name.replaceAll('/', '//')}`, found)
  return found
}

function sharedLeaves(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): number {
  const common = [...before.keys()].filter((place) => after.has(place))
  const equal = common.filter((place) => before.get(place) === after.get(place))
  return equal.length / (before.size + after.size - common.length)
}

const textOf = (said: readonly Said[]): string =>
  said
    .map(({ content, tool_calls = [] }) =>
      [content, ...tool_calls.map((call) => orderedJson(call))].join('\n'),
    )
    .join('\n')
