import { badRequest, type Message, type ToolCall } from '#kernel'
import { callArguments, inPlace, mergedDetails } from '#provider'
import { callIdOf } from './names.ts'
import { blocksOf, cachePoints, type Scene } from './parts.ts'
import { withBareEnd } from './prefill.ts'
import { blockOf } from './reasoning.ts'
import type { Block, Turn } from './wire.ts'

export interface Conversation {
  readonly system: readonly Block[]
  readonly messages: readonly Turn[]
}

interface Piece {
  readonly role: Turn['role'] | 'system'
  readonly blocks: readonly Block[]
}

/**
 * A conversation as the service wants it: system texts apart, the turns of user and assistant alternating and begun by
 * the user, the results of all tool calls of a turn together and before anything else.
 */
export function conversationOf(messages: readonly Message[], scene: Scene): Conversation {
  const pieces = messages.map((message, i) => pieceOf(message, `messages.${i}`, scene))
  const system = pieces.flatMap(({ role, blocks }) => (role === 'system' ? blocks : []))
  const turns = turnsOf(pieces.filter(({ role, blocks }) => role !== 'system' && blocks.length > 0))
  if (turns[0]?.role === 'assistant') {
    scene.changes.add('+messages.user')
    turns.unshift({ role: 'user', content: [{ text: '…' }] })
  }
  if (turns.length > 0)
    return { system, messages: scene.facts.maker === 'anthropic' ? withBareEnd(turns, scene) : turns }
  scene.changes.add('role:system->user')
  return { system: [], messages: [{ role: 'user', content: system }] }
}

function pieceOf(message: Message, at: string, scene: Scene): Piece {
  const content = () => blocksOf(message.content, `${at}.content`, scene)
  if (message.name !== undefined) scene.changes.add('-messages.name')
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', blocks: textsOnly(content(), `${at}.content`) }
    case 'user':
      return { role: 'user', blocks: content() }
    case 'assistant':
      return { role: 'assistant', blocks: assistantBlocks(message, content(), at, scene) }
    case 'tool':
      return { role: 'user', blocks: resultOf(message, content(), at, scene) }
    default: {
      const param = `${at}.role`
      throw badRequest(`${param}: Bedrock does not support ${message.role} messages; use tools.`, { param })
    }
  }
}

function textsOnly(blocks: readonly Block[], param: string): readonly Block[] {
  if (blocks.every(({ text, cachePoint }) => text !== undefined || cachePoint)) return blocks
  throw badRequest(`${param}: only text is supported here.`, { param })
}

function turnsOf(pieces: readonly Piece[]): Turn[] {
  const groups: { role: Turn['role']; blocks: Block[] }[] = []
  for (const { role, blocks } of pieces) {
    const last = groups.at(-1)
    if (last?.role === role) last.blocks.push(...blocks)
    else groups.push({ role: role as Turn['role'], blocks: [...blocks] })
  }
  return groups.map(({ role, blocks }) => ({ role, content: resultsFirst(blocks) }))
}

/** Results with the marks that follow them, then the rest. */
function resultsFirst(blocks: readonly Block[]): Block[] {
  const belongs = blocks.map((block, i) =>
    Boolean(block.toolResult ?? (block.cachePoint && blocks[i - 1]?.toolResult)),
  )
  return [...blocks.filter((_, i) => belongs[i]), ...blocks.filter((_, i) => !belongs[i])]
}

function resultOf(message: Message, content: readonly Block[], at: string, scene: Scene): Block[] {
  const { tool_call_id: id, is_error, cache_control } = message
  if (id === undefined) {
    const param = `${at}.tool_call_id`
    throw badRequest(`${param}: the result of a tool needs it.`, { param })
  }
  const marks = content.filter(({ cachePoint }) => cachePoint)
  const said = content.filter(({ cachePoint }) => !cachePoint)
  return [
    {
      toolResult: {
        toolUseId: callIdOf(id),
        content: said,
        ...(is_error === true && { status: 'error' as const }),
      },
    },
    ...(marks.length > 0 ? marks.slice(0, 1) : cachePoints(cache_control, scene)),
  ]
}

interface Placed {
  readonly index: number
  readonly blocks: readonly Block[]
}

/** State in other providers' answers that a client sends back. */
const lost = ['vendor_blocks', 'extra_content', 'citations'] as const
const bareReasoning = ['reasoning', 'reasoning_content'] as const

/** An assistant's blocks in the order in which they came, as far as that is known: reasoning, text, tool calls. */
function assistantBlocks(message: Message, content: readonly Block[], at: string, scene: Scene): Block[] {
  const placed: Placed[] = []
  const rest: Block[] = [...content]
  if (rest.length === 0) rest.push(...blocksOf(message.refusal, at, scene))
  for (const detail of mergedDetails(message.reasoning_details)) {
    const block = blockOf(detail, scene.facts.maker)
    if (block) placed.push({ index: detail.index ?? 0, blocks: [block] })
    else scene.changes.add('-messages.reasoning_details')
  }
  scene.changes.lose(message, placed.length > 0 ? lost : [...lost, ...bareReasoning], ['extra_content'])
  for (const [i, call] of (message.tool_calls ?? []).entries()) {
    const blocks = toolUseOf(call, `${at}.tool_calls.${i}`, scene)
    const { index } = call as { index?: unknown }
    if (typeof index === 'number') placed.push({ index, blocks })
    else rest.push(...blocks)
  }
  return inPlace(placed, rest)
}

function toolUseOf({ id, function: fn, extra }: ToolCall, at: string, scene: Scene): Block[] {
  if (!fn) throw badRequest(`${at}.type: Bedrock supports only function calls.`, { param: `${at}.type` })
  const { cache_control } =
    (extra as { anthropic?: { cache_control?: unknown } } | undefined)?.anthropic ?? {}
  const toolUse = { toolUseId: callIdOf(id), name: fn.name, input: inputOf(fn.arguments, at, scene) }
  return [{ toolUse }, ...cachePoints(cache_control, scene)]
}

function inputOf(json: string, at: string, { changes }: Scene): unknown {
  const input = callArguments(json, changes)
  if (input) return input
  const param = `${at}.function.arguments`
  throw badRequest(`${param}: expected the JSON of an object.`, { param })
}
