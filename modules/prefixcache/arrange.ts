import type { Message, ModelRequest, Tool } from '#kernel'
import type { Seen } from './seen.ts'

/** A request whose stable parts stand first. */
export interface Arranged {
  /** The fields that are other than before. */
  readonly changes: Pick<ModelRequest, 'messages' | 'tools'>
  /** The instructions that stand first and are stable. */
  readonly stable: readonly Message[]
  /** Whether all instructions are. */
  readonly isWhole: boolean
  readonly tools: readonly Tool[]
}

/**
 * Sorts tools by their names, and among the instructions at the beginning those first that other calls had, too. Unless it `sorts`,
 * everything stays where it is, and only the instructions before the first that changes count as stable.
 */
export function arranged(
  { messages = [], tools = [] }: ModelRequest,
  { circle, seen, sorts }: { readonly circle: string; readonly seen: Seen; readonly sorts: boolean },
): Arranged {
  const begun = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer')
  const instructions = messages.slice(0, begun < 0 ? messages.length : begun)
  const isStable = seen.stable(circle, instructions)
  if (!sorts) {
    const end = isStable.indexOf(false)
    return {
      changes: {},
      stable: end < 0 ? instructions : instructions.slice(0, end),
      isWhole: end < 0,
      tools,
    }
  }
  const stable = instructions.filter((_, i) => isStable[i])
  const changing = instructions.filter((_, i) => !isStable[i])
  const inOrder = [...stable, ...changing]
  const sorted = tools.toSorted((a, b) => compare(nameOf(a), nameOf(b)))
  return {
    changes: {
      ...(!isSame(inOrder, instructions) && {
        messages: [...inOrder, ...messages.slice(instructions.length)],
      }),
      ...(!isSame(sorted, tools) && { tools: sorted }),
    },
    stable,
    isWhole: changing.length === 0,
    tools: sorted,
  }
}

const nameOf = ({ type, function: called, name }: Tool): string => called?.name ?? String(name ?? type)

/** By code units, which no locale changes. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const isSame = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.every((value, i) => value === b[i])
