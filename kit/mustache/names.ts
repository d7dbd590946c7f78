import type { Node } from './parse.ts'

/** How a template uses a name. */
export interface Use {
  /** Whether a tag shows it outside of a section of the same name, so that nothing in the template asks first if it is there. */
  readonly isShown: boolean
}

/** A section around a tag. */
interface Around {
  readonly name: string
  readonly inverted: boolean
}

/**
 * The variables that a template uses, in the order in which they come. Inside of a section over a name of `holders`, which are
 * lists or objects, names are fields of these.
 */
export function namesIn(nodes: readonly Node[], holders: ReadonlySet<string> = new Set()): Map<string, Use> {
  const uses = new Map<string, Use>()
  const collect = (these: readonly Node[], around: readonly Around[]): void => {
    const areFields = around.some(({ name, inverted }) => !inverted && holders.has(name))
    for (const node of these) {
      if (node.kind !== 'value' && node.kind !== 'section') continue
      const [name] = node.path
      if (name !== undefined && !areFields) {
        const isAsked = around.some((section) => section.name === name)
        const isShown = (node.kind === 'value' && !isAsked) || uses.get(name)?.isShown === true
        uses.set(name, { isShown })
      }
      if (node.kind === 'value') continue
      const { nodes, inverted } = node
      collect(nodes, name === undefined ? around : [...around, { name, inverted }])
    }
  }
  collect(nodes, [])
  return uses
}
