import { readFile } from 'node:fs/promises'
import type { Message, ModelRequest } from '../call/canonical.ts'
import type { ChatForm } from '../catalogue/tokenizers.ts'
import { textOf } from './text.ts'
import type { Conversation } from './tokenizer.ts'

interface Turn {
  readonly role: string
  readonly content: string
  readonly tool_calls?: Message['tool_calls']
  readonly reasoning_content?: unknown
}

/**
 * Counts conversations as the model reads them, by its maker's template. What it counts are texts, and tools where the
 * template carries them: other parts of messages are left to others.
 */
export async function openTemplate(
  chat: ChatForm,
  count: (prompt: string) => number,
): Promise<(request: ModelRequest) => Conversation | undefined> {
  const { Template } = await import('@huggingface/jinja')
  const file = new URL(`./shipped/${chat.template}.jinja`, import.meta.url)
  const template = new Template(await readFile(file, 'utf8'))

  function tokens(turns: readonly Turn[], request: ModelRequest, tools: ModelRequest['tools']): number {
    const { chat_template_kwargs: own } = request as { readonly chat_template_kwargs?: object }
    const prompt = template.render({
      ...own,
      ...chat.values,
      messages: turns,
      ...(tools?.length && { tools }),
      add_generation_prompt: true,
    })
    return count(prompt + (chat.opening ?? ''))
  }

  return (request) => {
    const given = (request.messages ?? []).map(turnOf)
    const usesTools = [
      ...(request.tools ?? []),
      ...given.filter(({ role, tool_calls }) => role === 'tool' || tool_calls),
    ]
    if (given.length === 0 || (usesTools.length > 0 && !chat.tools)) return undefined
    const isBare = chat.system !== undefined && given[0]?.role !== 'system'
    const turns = isBare ? [{ role: 'system', content: chat.system! }, ...given] : given
    try {
      const all = tokens(turns, request, request.tools)
      return { tokens: all, tools: request.tools?.length ? all - tokens(turns, request, undefined) : 0 }
    } catch {
      // Templates refuse conversations that the model was not trained for; providers take many of them nevertheless.
      return undefined
    }
  }
}

function turnOf({ role, content, tool_calls, ...more }: Message): Turn {
  const { reasoning_content } = more as { readonly reasoning_content?: unknown }
  return {
    role: role === 'developer' ? 'system' : role,
    content:
      typeof content === 'string'
        ? content
        : (content ?? []).flatMap((part) => textOf(part) ?? []).join('\n'),
    ...(tool_calls?.length && { tool_calls }),
    ...(typeof reasoning_content === 'string' && { reasoning_content }),
  }
}
