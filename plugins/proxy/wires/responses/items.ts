import { notFound } from '#kernel'
import type { Fields, Item } from './schema.ts'
import type { Kept, StoredResponses } from './stored.ts'

const prefixes: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
  tool_search_call: 'tsc',
  tool_search_output: 'tso',
  additional_tools: 'at',
  agent_message: 'amsg',
}

/** Items as they are kept: with ids, their own or made of that of the response and their place, and texts as parts. */
export function identified(items: readonly Fields[], responseId: string): Item[] {
  return items.map((item, i) => {
    const { type = 'message', id } = item
    const made = `${prefixes[String(type)] ?? 'item'}_${responseId.replace(/^resp_/, '')}_in${i}`
    return {
      ...item,
      type: String(type),
      id: typeof id === 'string' && id !== '' ? id : made,
      ...(type === 'message' && { content: partsOf(item) }),
    }
  })
}

function partsOf({ role, content }: Fields): unknown {
  if (typeof content !== 'string') return content
  const type = role === 'assistant' ? 'output_text' : 'input_text'
  return [{ type, text: content, ...(role === 'assistant' && { annotations: [] }) }]
}

/** All items of turns, in the order in which they were said. */
export const itemsOf = (turns: readonly Kept[]): Item[] =>
  turns.flatMap(({ input, response }) => [...input, ...response.output])

/** Items with those that are only named by their ids looked up among the caller's. Not found names the item. */
export async function resolved(
  items: readonly Fields[],
  owner: string,
  stored: StoredResponses,
): Promise<readonly Fields[]> {
  if (!items.some(isReference)) return items
  const known = new Map<string, Kept>()
  const found: Fields[] = []
  for (const [i, item] of items.entries())
    found.push(isReference(item) ? await lookedUp(String(item.id), `input.${i}.id`) : item)
  return found

  async function lookedUp(id: string, param: string): Promise<Item> {
    const [, ulid] = /^[a-z]+_([0-9A-Z]{26})_/.exec(id) ?? []
    if (ulid === undefined) throw notFound(`There is no item ${id}.`, { param })
    const of = `resp_${ulid}`
    const kept = known.get(of) ?? (await stored.get(owner, of, param))
    known.set(of, kept)
    const item = itemsOf([kept]).find((one) => one.id === id)
    if (!item) throw notFound(`There is no item ${id}.`, { param })
    return item
  }
}

/** Some clients leave the type out. */
const isReference = ({ type, id, role }: Fields): boolean =>
  type === 'item_reference' || (type === undefined && role === undefined && typeof id === 'string')
