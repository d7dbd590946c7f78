import type { AutopilotOptions, Call, Candidate, Context } from '#kernel'
import { ModelScopes } from '#provider'
import type { Configured } from '../configuration/configured.ts'
import { allowsContent } from '../configuration/content.ts'
import { ownNames } from '../configuration/fields.ts'
import type { Standing } from '../scores/standing.ts'
import type { Estimates } from './estimates.ts'
import { lackOf, needsOf } from './features.ts'
import type { Place } from './route.ts'

/** A model that a call may go to, and where. */
export interface Open {
  readonly standing: Standing
  readonly place: Place
}

interface Parts extends Pick<Context<unknown>, 'find'> {
  readonly configured: Configured
  readonly estimates: Estimates
}

/** Says which models a call may go to. */
export class Openings {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * The first of these models that the call may go to, or with exploration all of them, and why it may not go to the others.
   * `usual` is where the reference model would answer.
   */
  async of(
    call: Call,
    standings: readonly Standing[],
    usual: Place | undefined,
    targets: AutopilotOptions['targets'],
  ): Promise<{ readonly open: readonly Open[]; readonly refused: readonly string[] }> {
    const { guard, explore_pct } = this.#parts.configured.current
    const needs = needsOf(call.request, guard)
    const mayLeave = this.#mayLeave(call)
    const open: Open[] = []
    const refused: string[] = []
    for (const standing of standings) {
      const { model } = standing.score
      const [place] = await targets(call.withRequest({ model }))
      const isElsewhere = place?.provider !== usual?.provider
      const why = place ? this.#refusal(call, place, needs, isElsewhere && !mayLeave) : 'cannot be reached'
      if (why !== undefined) refused.push(`${model} ${why}`)
      else open.push({ standing, place: place! })
      if (open.length > 0 && explore_pct === 0) break
    }
    return { open, refused }
  }

  /** Whether contents may go to another provider: who asks for autopilot wants that, and others an admin has to list. */
  #mayLeave({ request: { model }, principal, context }: Call): boolean {
    if (ownNames.includes(model)) return true
    return allowsContent(this.#parts.configured.current.content, principal.userId, context.project)
  }

  #refusal(
    call: Call,
    place: Candidate,
    needs: ReturnType<typeof needsOf>,
    isForbidden: boolean,
  ): string | undefined {
    const { find, estimates } = this.#parts
    const { provider, model } = place
    if (isForbidden) return 'is at another provider'
    if (find(ModelScopes)?.mayReach(call.principal, call.request.model, provider, model) === false)
      return 'is outside the scope of this key'
    return lackOf(place, needs, estimates.window(call, model))
  }
}
