/** Where a canonical message comes from in a body. */
export interface Place {
  readonly at: string
  /** What the body calls the message's content; absent where several items became one message. */
  readonly content?: 'content' | 'output'
}

/** Where a canonical request comes from in a body. */
export interface Places {
  /** Of each message. */
  readonly messages: readonly Place[]
  /** Of each tool. */
  readonly tools: readonly string[]
}

/** Fields that the body calls otherwise. */
const names: Readonly<Record<string, string>> = {
  max_completion_tokens: 'max_output_tokens',
  max_tokens: 'max_output_tokens',
  reasoning_effort: 'reasoning.effort',
  response_format: 'text.format',
  verbosity: 'text.verbosity',
}

/** A path in the canonical request as the path in the body that its client sent. */
export function bodyPath(param: string, places: Places): string {
  const [head = '', ...rest] = param.replaceAll(/\[(\d+)\]/g, '.$1').split('.')
  if (head === 'tools') {
    const [index = '', ...steps] = rest
    const at = places.tools[Number(index)] ?? ['tools', index].join('.')
    return [at, ...steps.filter((step) => step !== 'function')].join('.')
  }
  const place = head === 'messages' ? places.messages[Number(rest[0])] : undefined
  if (!place) return [names[head] ?? head, ...rest].join('.')
  if (!place.content) return place.at
  return [place.at, ...rest.slice(1).map((step) => (step === 'content' ? place.content : step))].join('.')
}
