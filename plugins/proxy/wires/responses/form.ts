/** How texts of a kind stand in their item, and what the events are called that build them. */
export interface Form {
  /** The list of the item that holds them; texts without one are the item's own. */
  readonly list?: 'content' | 'summary'
  /** What an event calls a part's place in that list. */
  readonly index?: 'content_index' | 'summary_index'
  /** Begins the names of the events that begin and end a part. */
  readonly part?: string
  /** Begins the names of the events that bring and end a text. */
  readonly text: string
  /** The field that grows. */
  readonly field: 'text' | 'refusal' | 'arguments' | 'input'
  /** A new part, before its text. */
  readonly blank?: () => Record<string, unknown>
}

export type TextKind = 'text' | 'refusal' | 'summary' | 'arguments' | 'input'

export const forms: Readonly<Record<TextKind, Form>> = {
  text: {
    list: 'content',
    index: 'content_index',
    part: 'response.content_part',
    text: 'response.output_text',
    field: 'text',
    blank: () => ({ type: 'output_text', text: '', annotations: [], logprobs: [] }),
  },
  refusal: {
    list: 'content',
    index: 'content_index',
    part: 'response.content_part',
    text: 'response.refusal',
    field: 'refusal',
    blank: () => ({ type: 'refusal', refusal: '' }),
  },
  summary: {
    list: 'summary',
    index: 'summary_index',
    part: 'response.reasoning_summary_part',
    text: 'response.reasoning_summary_text',
    field: 'text',
    blank: () => ({ type: 'summary_text', text: '' }),
  },
  arguments: { text: 'response.function_call_arguments', field: 'arguments' },
  input: { text: 'response.custom_tool_call_input', field: 'input' },
}

export type ItemKind = 'message' | 'reasoning' | 'function_call' | 'custom_tool_call' | 'tool_search_call'

/** New items, and what their ids begin with. */
export const itemForms: Readonly<
  Record<ItemKind, { readonly prefix: string; readonly blank: () => Record<string, unknown> }>
> = {
  message: { prefix: 'msg', blank: () => ({ role: 'assistant', content: [] }) },
  reasoning: { prefix: 'rs', blank: () => ({ summary: [] }) },
  function_call: { prefix: 'fc', blank: () => ({ arguments: '' }) },
  custom_tool_call: { prefix: 'ctc', blank: () => ({ input: '' }) },
  tool_search_call: { prefix: 'tsc', blank: () => ({ execution: 'client', arguments: {} }) },
}
