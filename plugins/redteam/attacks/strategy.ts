import type { Carrier } from './attack-type.ts'
import type { RulePattern } from './rule-pattern.ts'

/** A way to put an attack so that guards and models do not see it for what it is. */
export interface Strategy {
  readonly id: string
  readonly description: string
  /** The text in another form; absent for one that only changes how it reaches the model. */
  readonly apply?: (text: string) => string
  /** How it reaches the model, in place of what its type says. */
  readonly carrier?: Carrier
  readonly rule?: RulePattern
}

/** A frame around the text, at `{{attack}}`. */
export const framed =
  (template: string) =>
  (text: string): string =>
    template.replace('{{attack}}', () => text)
