import { readFile } from 'node:fs/promises'
import type { Message, ModelRequest, ToolCall } from '#kernel'
import type { ChatForm } from '../catalogue/tokenizers.ts'
import { textOf } from './text.ts'
import type { Conversation } from './tokenizer.ts'

interface Turn {
  readonly role: string
  readonly content: string
  readonly tool_calls?: readonly object[]
  readonly reasoning_content?: unknown
}

/** How a template that is read is to be used. */
interface TemplateUse extends Omit<ChatForm, 'template'> {
  /** Whether it takes the arguments of calls as objects, as Hugging Face's do, and not as texts. */
  readonly parsesArguments?: boolean
}

type CountConversation = (request: ModelRequest) => Conversation | undefined

/** Counts conversations by a template that came with the gateway. */
export async function openTemplate(
  { template, ...use }: ChatForm,
  count: (prompt: string) => number,
): Promise<CountConversation> {
  const file = new URL(`./shipped/${template}.jinja`, import.meta.url)
  return compileTemplate(await readFile(file, 'utf8'), use, count)
}

/**
 * Counts conversations as the model reads them, by its maker's template. It counts texts, and tools where the template carries
 * them: other parts of messages are left to other counters. Throws the problem of a bad template.
 */
export async function compileTemplate(
  source: string,
  chat: TemplateUse,
  count: (prompt: string) => number,
): Promise<CountConversation> {
  const { Template } = await import('@huggingface/jinja')
  const template = new Template(source)

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
    const given = (request.messages ?? []).map((message) => turnOf(message, chat.parsesArguments))
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

function turnOf({ role, content, tool_calls, ...more }: Message, parsesArguments = false): Turn {
  const { reasoning_content } = more as { readonly reasoning_content?: unknown }
  return {
    role: role === 'developer' ? 'system' : role,
    content:
      typeof content === 'string'
        ? content
        : (content ?? []).flatMap((part) => textOf(part) ?? []).join('\n'),
    ...(tool_calls?.length && { tool_calls: parsesArguments ? tool_calls.map(withObject) : tool_calls }),
    ...(typeof reasoning_content === 'string' && { reasoning_content }),
  }
}

/** A call whose arguments are an object; a text that is none stays, as it does where models are served. */
function withObject(call: ToolCall): object {
  const args = parsed(call.function.arguments)
  return typeof args === 'object' && args !== null
    ? { ...call, function: { ...call.function, arguments: args } }
    : call
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
