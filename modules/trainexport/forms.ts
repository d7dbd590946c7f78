import type { Example, ExampleTool, Turn } from './example.ts'

/** The forms in which sets can be downloaded. */
export const forms = ['openai', 'anthropic'] as const
export type Form = (typeof forms)[number]

/** An example as a line of a training file. */
export const lineOf: Readonly<Record<Form, (example: Example) => unknown>> = {
  openai: ({ turns, tools }) => ({
    messages: turns.map(openaiMessage),
    ...(tools.length > 0 && {
      tools: tools.map((tool) => ({ type: 'function', function: tool })),
    }),
  }),

  anthropic({ turns, tools }) {
    const system = turns.flatMap((turn) => (turn.role === 'system' && turn.text !== '' ? [turn.text] : []))
    return {
      ...(system.length > 0 && { system: system.join('\n\n') }),
      messages: anthropicMessages(turns),
      ...(tools.length > 0 && { tools: tools.map(anthropicTool) }),
    }
  },
}

function openaiMessage(turn: Turn): unknown {
  if (turn.role === 'tool') return { role: 'tool', tool_call_id: turn.id, content: turn.text }
  const { role, text } = turn
  if (role !== 'assistant' || turn.calls.length === 0) return { role, content: text }
  const tool_calls = turn.calls.map(({ id, name, input }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }))
  return { role, ...(text !== '' && { content: text }), tool_calls }
}

const anthropicTool = ({ name, description, parameters }: ExampleTool) => ({
  name,
  ...(description !== undefined && { description }),
  input_schema: { type: 'object', ...parameters },
})

interface AnthropicMessage {
  readonly role: 'user' | 'assistant'
  readonly content: string | readonly object[]
}

/** Turns by two roles that alternate: neighbours of one role are one message, and results of tools are the user's. */
function anthropicMessages(turns: readonly Turn[]): AnthropicMessage[] {
  const messages: { role: AnthropicMessage['role']; blocks: object[] }[] = []
  for (const turn of turns) {
    if (turn.role === 'system') continue
    const role = turn.role === 'assistant' ? 'assistant' : 'user'
    const last = messages.at(-1)
    if (last?.role === role) last.blocks.push(...blocksOf(turn))
    else messages.push({ role, blocks: blocksOf(turn) })
  }
  return messages.map(({ role, blocks }) => {
    const texts = blocks.map((block) => ('text' in block ? String(block.text) : undefined))
    return { role, content: texts.includes(undefined) ? blocks : texts.join('\n') }
  })
}

function blocksOf(turn: Exclude<Turn, { role: 'system' }> | Turn): object[] {
  if (turn.role === 'tool') return [{ type: 'tool_result', tool_use_id: turn.id, content: turn.text }]
  const text = turn.text === '' ? [] : [{ type: 'text', text: turn.text }]
  if (turn.role !== 'assistant') return text
  return [...text, ...turn.calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input }))]
}
