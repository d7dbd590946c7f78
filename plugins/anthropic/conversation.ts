import { hash } from 'node:crypto'
import { badRequest, type Message, type ToolCall } from '#kernel'
import { type Changes, callArguments, inPlace, mergedDetails } from '#provider'
import type { Fit } from './fit.ts'
import type { Block, Turn } from './native.ts'
import { blocksOf } from './parts.ts'
import { withBareEnd } from './prefill.ts'
import { blockOf } from './reasoning.ts'

export interface Conversation {
  readonly system: string | readonly Block[] | undefined
  readonly turns: readonly Turn[]
}

interface Options {
  /** Leaves system messages in the midst of a conversation where they are. */
  readonly native: boolean
  readonly changes: Changes
  readonly fit: Pick<Fit, 'system'>
}

/** One message as blocks; `plain` when it is a mere string, which then goes out as one. */
interface Piece {
  readonly role: Turn['role']
  readonly blocks: readonly Block[]
  readonly plain: string | undefined
}

/**
 * A conversation as the service wants it: system texts apart, the turns of user and assistant alternating, the results
 * of all tool calls of a turn together and before anything else.
 */
export function conversationOf(messages: readonly Message[], options: Options): Conversation {
  const pieces = messages.map((message, i) => pieceOf(message, `messages.${i}`, options))
  const begun =
    options.fit.system === 'merge' ? pieces.length : pieces.findIndex(({ role }) => role !== 'system')
  const isSystem = ({ role }: Piece, i: number): boolean =>
    role === 'system' && (options.native ? i === 0 : begun < 0 || i < begun)
  const system = pieces.filter(isSystem).filter(({ blocks }) => blocks.length > 0)
  const spoken = pieces
    .filter((piece, i) => !isSystem(piece, i) && piece.blocks.length > 0)
    .map((piece) => (options.native ? piece : asWords(piece, options.changes)))
  if (spoken.length === 0 && system.length > 0) {
    options.changes.add('role:system->user')
    return { system: undefined, turns: [{ role: 'user', content: contentOf(system) }] }
  }
  const turns = turnsOf(spoken)
  if (!options.native && turns[0]?.role === 'assistant') {
    options.changes.add('+messages.user')
    turns.unshift({ role: 'user', content: silence })
  }
  return {
    system: system.length > 0 ? contentOf(system) : undefined,
    turns: options.native ? turns : withBareEnd(turns, options.changes),
  }
}

/** Stands before a conversation that the model began: the service wants the user to. */
const silence = '…'

/** A system message that stays where it is: its words are the user's. */
function asWords(piece: Piece, changes: Changes): Piece {
  if (piece.role !== 'system') return piece
  changes.add('role:system->user')
  return { ...piece, role: 'user' }
}

function pieceOf(message: Message, at: string, options: Options): Piece {
  const { content } = message
  const plain = typeof content === 'string' ? content : undefined
  if (message.name !== undefined && message.role !== 'tool') options.changes.add('-messages.name')
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', blocks: blocksOf(content, at), plain }
    case 'user':
      return { role: 'user', blocks: blocksOf(content, at), plain }
    case 'assistant': {
      const blocks = assistantBlocks(message, at, options)
      const isText = blocks.length === 1 && blocks[0]!.type === 'text'
      return { role: 'assistant', blocks, plain: isText ? plain : undefined }
    }
    case 'tool':
      return { role: 'user', blocks: [resultOf(message, at)], plain: undefined }
    default:
      throw badRequest(`Anthropic does not support ${message.role} messages; use tools.`, {
        param: `${at}.role`,
      })
  }
}

function turnsOf(pieces: readonly Piece[]): Turn[] {
  const groups: Piece[][] = []
  for (const piece of pieces) {
    const last = groups.at(-1)
    if (last && last[0]!.role === piece.role) last.push(piece)
    else groups.push([piece])
  }
  return groups.map((group) => ({ role: group[0]!.role, content: contentOf(group) }))
}

function contentOf(pieces: readonly Piece[]): string | readonly Block[] {
  const [only] = pieces
  if (pieces.length === 1 && only!.plain !== undefined) return only!.plain
  const blocks = pieces.flatMap((piece) => piece.blocks)
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))]
}

const isResult = ({ type }: Block): boolean => type === 'tool_result'

function resultOf({ content, tool_call_id, is_error, cache_control }: Message, at: string): Block {
  if (tool_call_id === undefined)
    throw badRequest('The result of a tool needs tool_call_id.', { param: `${at}.tool_call_id` })
  const said = typeof content === 'string' ? content : blocksOf(content, at)
  return {
    type: 'tool_result',
    tool_use_id: idOf(tool_call_id),
    ...(said.length > 0 && { content: said }),
    ...(typeof is_error === 'boolean' && { is_error }),
    ...(cache_control !== undefined && { cache_control }),
  }
}

/** Ids that another provider made may not fit; the same id becomes the same one at every turn. */
const idOf = (id: string): string =>
  /^[a-zA-Z0-9_-]+$/.test(id) ? id : `toolu_${hash('sha256', id).slice(0, 24)}`

interface Placed {
  readonly index: number
  readonly blocks: readonly Block[]
}

/** State in other providers' answers that a client sends back. */
const carriers = ['extra_content', 'citations'] as const
const bareReasoning = ['reasoning', 'reasoning_content'] as const

/** An assistant's blocks in the order in which they came, as far as that is known: reasoning, text, tool calls. */
function assistantBlocks(message: Message, at: string, { changes }: Options): Block[] {
  const placed: Placed[] = []
  const rest: Block[] = blocksOf(message.content, at)
  const refusal = typeof message.refusal === 'string' && rest.length === 0 ? message.refusal : ''
  rest.push(...blocksOf(refusal, at))
  for (const detail of mergedDetails(message.reasoning_details)) {
    const block = blockOf(detail)
    if (block) placed.push({ index: detail.index ?? 0, blocks: [block] })
    else changes.add('-messages.reasoning_details')
  }
  changes.lose(message, placed.length > 0 ? carriers : [...carriers, ...bareReasoning], ['extra_content'])
  for (const { index, ...block } of listOf<Block & { index?: number }>(message.vendor_blocks))
    placed.push({ index: index ?? 0, blocks: [block as Block] })
  for (const [i, call] of (message.tool_calls ?? []).entries()) {
    const block = toolUseOf(call, `${at}.tool_calls.${i}`, changes)
    const { index } = call as { index?: unknown }
    if (typeof index === 'number') placed.push({ index, blocks: [block] })
    else rest.push(block)
  }
  return inPlace(placed, rest)
}

const listOf = <T>(value: unknown): readonly T[] => (Array.isArray(value) ? (value as T[]) : [])

function toolUseOf({ id, function: fn, extra }: ToolCall, at: string, changes: Changes): Block {
  if (!fn) throw badRequest('Anthropic supports only function calls.', { param: at })
  const own = (extra as { anthropic?: object } | undefined)?.anthropic
  return {
    type: 'tool_use',
    id: idOf(id),
    name: fn.name,
    input: inputOf(fn.arguments, at, changes),
    ...own,
  }
}

function inputOf(json: string, at: string, changes: Changes): unknown {
  const input = callArguments(json, changes)
  if (input) return input
  throw badRequest('Arguments of a tool call must be a JSON object.', { param: `${at}.function.arguments` })
}
