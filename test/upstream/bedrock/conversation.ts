import type { ConverseBody } from './schema.ts'

type Turn = ConverseBody['messages'][number]
type Block = Turn['content'][number]

/** What is wrong with a body whose fields are all right by themselves; undefined when nothing is. */
export function conversationError(body: ConverseBody, model: string): string | undefined {
  return (
    rolesError(body.messages) ??
    prefillError(body.messages, model) ??
    toolsError(body) ??
    documentsError(body.messages) ??
    modelError(body, model)
  )
}

function rolesError(turns: readonly Turn[]): string | undefined {
  if (turns[0]!.role !== 'user')
    return 'A conversation must start with a user message. Try again with a conversation that starts with a user message.'
  if (turns.some(({ role }, i) => role === turns[i - 1]?.role))
    return 'A conversation must alternate between user and assistant roles.'
  return undefined
}

function prefillError(turns: readonly Turn[], model: string): string | undefined {
  const { role, content } = turns.at(-1)!
  const last: Block | undefined = content.at(-1)
  const isPrefill = model.includes('anthropic.') && role === 'assistant' && last && 'text' in last
  return isPrefill && /\s$/.test(String(last.text))
    ? 'messages: final assistant content cannot end with trailing whitespace'
    : undefined
}

function toolsError({ messages, toolConfig }: ConverseBody): string | undefined {
  let open: string[] = []
  for (const [i, { role, content }] of messages.entries()) {
    const blocks: readonly Block[] = content
    const results = blocks.flatMap((block) => ('toolResult' in block ? [block.toolResult!.toolUseId] : []))
    if (role === 'user') {
      const missing = open.filter((id) => !results.includes(id))
      if (missing.length > 0)
        return `Expected toolResult blocks at messages.${i}.content for the following Ids: ${missing.join(', ')}`
      if (results.length > open.length || results.some((id) => !open.includes(id)))
        return `The number of toolResult blocks at messages.${i}.content exceeds the number of toolUse blocks of previous turn.`
    }
    open =
      role === 'assistant'
        ? blocks.flatMap((block) => ('toolUse' in block ? [block.toolUse!.toolUseId] : []))
        : []
    if (open.length > 0 && !toolConfig)
      return 'The toolConfig field must be defined when using toolUse and toolResult content blocks.'
  }
  const chosen = toolConfig?.toolChoice?.tool?.name
  const named = toolConfig?.tools.some((tool) => tool.toolSpec?.name === chosen)
  return chosen !== undefined && !named ? 'toolChoice.tool.name must be one of the tools.' : undefined
}

function documentsError(turns: readonly Turn[]): string | undefined {
  const blocks = turns.flatMap(({ content }): readonly Block[] => content)
  const names = blocks.flatMap((block) => ('document' in block ? [block.document!.name] : []))
  return new Set(names).size < names.length ? 'Your document names must be unique.' : undefined
}

/** What Anthropic's models say of the fields that are theirs. */
function modelError(body: ConverseBody, model: string): string | undefined {
  const { thinking, tool_choice, anthropic_beta } = (body.additionalModelRequestFields ?? {}) as {
    anthropic_beta?: unknown
    thinking?: { type?: string; budget_tokens?: number }
    tool_choice?: { type?: string }
  }
  if (tool_choice && (body.toolConfig?.toolChoice || !body.toolConfig || tool_choice.type !== 'auto'))
    return 'The additional field tool_choice conflicts with the value of toolConfig.'
  if (anthropic_beta !== undefined && !isBetas(anthropic_beta)) return 'invalid beta flag'
  if (!model.includes('anthropic.')) {
    const theirs = thinking !== undefined || tool_choice !== undefined || anthropic_beta !== undefined
    return theirs ? 'extraneous key [thinking] is not permitted, please reformat your input' : undefined
  }
  if (!thinking || thinking.type === 'disabled') return undefined
  const { inferenceConfig: config, toolConfig, messages } = body
  if (thinking.type === 'enabled' && (config?.maxTokens ?? 64_000) <= (thinking.budget_tokens ?? 0))
    return '`max_tokens` must be greater than `thinking.budget_tokens`'
  if (config?.temperature !== undefined && config.temperature !== 1)
    return '`temperature` may only be set to 1 when thinking is enabled'
  if (toolConfig?.toolChoice?.any || toolConfig?.toolChoice?.tool)
    return 'Thinking may not be enabled when tool_choice forces tool use.'
  const last: readonly Block[] = messages.findLast(({ role }) => role === 'assistant')?.content ?? []
  const called = thinking.type === 'enabled' && last.some((block) => 'toolUse' in block)
  if (called && !('reasoningContent' in last[0]!))
    return 'Expected `thinking` or `redacted_thinking`, but found `tool_use`.'
  const unsigned = messages
    .flatMap(({ content }): readonly Block[] => content)
    .find((block) => {
      const said = 'reasoningContent' in block ? block.reasoningContent?.reasoningText : undefined
      return said && said.signature !== signatureOf(said.text)
    })
  return unsigned && 'messages.1.content.0: Invalid `signature` in `thinking` block'
}

const betaForm =
  /^(?:context-1m|interleaved-thinking|token-efficient-tools|output-128k|dev-full-thinking)-[\d-]+$/

const isBetas = (value: unknown): boolean =>
  Array.isArray(value) && value.every((name) => typeof name === 'string' && betaForm.test(name))

/** What the model would sign; the same thoughts get the same signature. */
export const signatureOf = (thoughts: string): string => `sig+${Buffer.from(thoughts).toString('base64')}`
