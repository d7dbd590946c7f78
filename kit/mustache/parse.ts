import Mustache from 'mustache'
import { badRequest } from '../errors.ts'

/** A piece of a template. A path is the names between the dots of a tag; an empty one is `{{.}}`, the item itself. */
export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly path: readonly string[] }
  | { readonly kind: 'partial'; readonly slug: string; readonly start: number; readonly end: number }
  | {
      readonly kind: 'section'
      readonly path: readonly string[]
      readonly inverted: boolean
      readonly nodes: readonly Node[]
    }

/** As the library gives them: type, value, start, end and, of a section, what is in it. */
type Token = readonly [type: string, value: string, start: number, end: number, inner?: readonly Token[]]

/** Sections inside each other. */
const deepest = 20

const name = /^[\p{L}_][\p{L}\p{N}_-]{0,63}$/u
const slug = /^[a-z0-9][a-z0-9_-]{0,63}$/
/** A text that is one tag: most values of workflows are, and the library takes a hundred times as long. */
const loneTag = /^\{\{([\p{L}\p{N}_.-]{1,500})\}\}$/u
/** Names that every object has; nobody means them as variables. */
const reserved = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Reads a Mustache text. Throws a bad request that says in which line and column of `at` it is wrong. Tags that change the
 * delimiters are refused, as the text would then not show what is a tag.
 */
export function parse(text: string, at: string): readonly Node[] {
  if (!text.includes('{{')) return text === '' ? [] : [{ kind: 'text', text }]
  const fail = faultsOf(text, at)
  const [, only] = loneTag.exec(text) ?? []
  if (only !== undefined) return [{ kind: 'value', path: pathOf(only, 0, fail) }]
  return nodesOf(tokensOf(text, fail), fail, 0)
}

type Fail = (message: string, offset: number) => never

const faultsOf =
  (text: string, at: string): Fail =>
  (message, offset) => {
    const before = text.slice(0, offset).split('\n')
    const column = before.at(-1)!.length + 1
    throw badRequest(`${at}: line ${before.length}, column ${column}: ${message}.`, { param: at })
  }

function tokensOf(text: string, fail: Fail): readonly Token[] {
  const writer = new Mustache.Writer()
  try {
    return writer.parse(text)
  } catch (error) {
    const { message } = error as Error
    const [, what = '', offset] = /^(.{1,200}) at (\d+)$/s.exec(message) ?? []
    return fail(what === '' ? 'this is no Mustache' : lowered(what), Number(offset ?? 0))
  }
}

const lowered = (text: string): string => text[0]!.toLowerCase() + text.slice(1)

function nodesOf(tokens: readonly Token[], fail: Fail, depth: number): readonly Node[] {
  return tokens.flatMap(([type, value, start, end, inner = []]): readonly Node[] => {
    switch (type) {
      case 'text':
        return [{ kind: 'text', text: value }]
      case 'name':
      case '&':
        return [{ kind: 'value', path: pathOf(value, start, fail) }]
      case '#':
      case '^': {
        if (depth === deepest) fail(`more than ${deepest} sections are inside each other`, start)
        const nodes = nodesOf(inner, fail, depth + 1)
        return [{ kind: 'section', path: pathOf(value, start, fail), inverted: type === '^', nodes }]
      }
      case '>':
        if (!slug.test(value)) fail('a partial is named by the slug of a template', start)
        return [{ kind: 'partial', slug: value, start, end }]
      case '!':
        return []
      default:
        return fail('delimiters cannot be changed', start)
    }
  })
}

function pathOf(value: string, start: number, fail: Fail): readonly string[] {
  if (value === '.') return []
  const names = value.split('.')
  if (names.length > 8 || !names.every((one) => name.test(one) && !reserved.has(one)))
    fail('a name has letters, digits, _ and -, and begins with a letter or _', start)
  return names
}
