import type { Principal } from '../kernel/call/call.ts'
import { guardedToken } from '../kernel/token.ts'
import type { Message } from '../kit/canonical/forms.ts'

/** Which template, and which version of it: the newest one without a version and a label. */
export interface TemplateChoice {
  readonly slug: string
  readonly version?: number | undefined
  readonly label?: string | undefined
}

/** A version of a template, as a call uses it. It never changes. */
export interface FoundTemplate {
  readonly slug: string
  readonly version: number
  /** For calls that name the template in place of a model. */
  readonly model: string | undefined
  /** Fields of a request, for calls that leave them out. */
  readonly defaults: Readonly<Record<string, unknown>>
  /**
   * The messages with values in place of the variables. Throws a bad request that names all missing variables, and for values that
   * the template does not take; 413 for a text that would be too large.
   */
  fill(values: Readonly<Record<string, unknown>>): readonly Message[]
}

/** The templates of the studio, as calls use them. */
export interface Templates {
  /**
   * The caller's own template, else a shared one. Rejects with 404 where there is none that its calls may use, and with 403 for a key
   * that belongs to no user.
   */
  find(caller: Principal, choice: TemplateChoice): Promise<FoundTemplate>
}

export const Templates = guardedToken<Templates>('templates')
