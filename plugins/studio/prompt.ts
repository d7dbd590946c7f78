import type { Message } from '#kernel'
import { Filling, type MustacheNode, parseMustache } from '#kit'
import type { Content } from './input.ts'
import type { VersionBody } from './rows.ts'
import { missing, type Values, type Variable, valuesOf } from './variables.ts'

/** A message of a filled template. */
export type FilledMessage = {
  readonly role: Message['role']
  readonly content: string
  readonly name?: string
}

/** A message that is to be filled. */
interface Piece {
  readonly role: Message['role']
  readonly name?: string | undefined
  readonly nodes: readonly MustacheNode[]
}

/** A version ready to be filled. */
export class Prompt {
  readonly body: VersionBody
  readonly #pieces: readonly Piece[]
  readonly #variables: readonly Variable[]

  constructor(body: VersionBody) {
    this.body = body
    this.#variables = body.variables
    this.#pieces = messagesOf(body.resolved ?? body.content).map(({ content, ...message }) => ({
      ...message,
      nodes: parseMustache(content, 'content'),
    }))
  }

  /**
   * Its messages with these values in place of the tags. Refuses values it does not take, and names all that it lacks; `at` is the
   * field that has them.
   */
  fill(given: Values, at: string): FilledMessage[] {
    const variables = this.#variables
    const optional = new Set(variables.filter(({ required }) => !required).map(({ name }) => name))
    const filling = new Filling(valuesOf(variables, given, at), (name) => optional.has(name), at)
    const messages = this.#pieces.map(({ role, name, nodes }) => ({
      role,
      content: filling.text(nodes),
      ...(name !== undefined && { name }),
    }))
    if (filling.missing.size > 0) throw missing(filling.missing, at)
    return messages
  }
}

/** A content as messages: a text is what the system says. */
export const messagesOf = (content: Content) =>
  typeof content === 'string' ? [{ role: 'system' as const, content }] : content
