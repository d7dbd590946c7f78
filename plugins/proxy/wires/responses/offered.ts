import { z } from 'zod'
import { checked } from './checked.ts'
import type { Fields } from './schema.ts'

/** A tool of a request, and where in its body it stands. */
export interface Offered {
  readonly tool: Fields & { readonly type: string }
  readonly at: string
  readonly namespace?: string
}

const tools = z.array(z.looseObject({ type: z.string() }))
const namespace = z.looseObject({ name: z.string().min(1), tools })
const loaded = z.looseObject({ tools })

/** Tools in the order in which they are listed, those in namespaces one by one. */
export function* offeredIn(list: readonly Fields[], at: string, within?: string): Generator<Offered> {
  for (const [i, tool] of checked(tools, list, at).entries()) {
    const place = `${at}.${i}`
    if (tool.type === 'namespace' && within === undefined) {
      const { name, tools: inner } = checked(namespace, tool, place)
      yield* offeredIn(inner, `${place}.tools`, name)
    } else yield { tool, at: place, ...(within !== undefined && { namespace: within }) }
  }
}

/** Items that bring tools with them, which count from then on. */
const bringsTools = (type: unknown): boolean => type === 'additional_tools' || type === 'tool_search_output'

/** The tools that items of a conversation bring. */
export function* broughtBy(items: readonly Fields[], at: (index: number) => string): Generator<Offered> {
  for (const [i, item] of items.entries())
    if (bringsTools(item.type)) yield* offeredIn(checked(loaded, item, at(i)).tools, `${at(i)}.tools`)
}
