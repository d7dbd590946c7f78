import { hooksOf, type Placement, type Registry, type When } from '#kernel'
import { type DryStep, differences } from '#kit'
import type { Explanation } from './shapes.ts'

type Link = Explanation['modules'][number]

/** Every module there is, in chain order, and what would become of the call there; problems are for admins. */
export function linksOf(registry: Registry, steps: readonly DryStep[], isAdmin: boolean): Link[] {
  const byId = new Map(steps.map((step) => [step.module, step]))
  return registry.places.map((place, i) => {
    const step = byId.get(place.plugin.id)
    const hooks = step ? hooksOf(step.hooks) : []
    const mode = place.plugin.setting?.mode ?? 'enforce'
    const base = { order: i + 1, name: place.plugin.id, phase: place.manifest.stage, mode, hooks }
    return {
      ...base,
      ...(step ? stepOf(step, place) : offOf(place, registry.stateOf(place.plugin), isAdmin)),
    }
  })
}

type Told = Pick<Link, 'outcome' | 'reason' | 'condition' | 'effect' | 'changes'>

const plain = (outcome: Link['outcome'], reason: string): Told => {
  return { outcome, reason, effect: 'known', changes: [] }
}

function offOf({ plugin }: Placement, state: string, isAdmin: boolean): Told {
  if (state === 'disabled') return plain('off', 'it is switched off')
  const why = isAdmin && plugin.problem ? plugin.problem : 'it could not be started'
  return plain('broken', `${state}: ${why}; calls pass without it`)
}

function stepOf(step: DryStep, { plugin }: Placement): Told {
  const { outcome, condition, error, fault, hooks, before, after, known } = step
  const when = plugin.setting?.when
  if (outcome === 'not_reached') return plain('not_reached', 'a module before it ends the call')
  if (outcome === 'fails') return plain('broken', `it fails over this call (${fault}); calls pass without it`)
  if (outcome === 'tripped')
    return plain('broken', 'it keeps failing and is left out for now; calls pass without it')
  if (outcome === 'refuses')
    return plain('refuses', error?.message ?? 'it keeps failing, and its policy is to refuse calls then')
  if (outcome === 'answers') return plain('answers', 'it answers in the place of the provider')
  if (isShared(when) && (condition === 'percent' || condition === undefined)) {
    return {
      ...plain('share', `it runs for ${when.percent} % of such calls, chosen by call id`),
      effect: 'unknown',
    }
  }
  if (condition !== undefined)
    return { ...plain('skipped', `its condition ${condition} is not met`), condition }
  if (hooksOf(hooks).length === 0) return plain('idle', 'it has nothing to do for any call now')
  if (plugin.setting?.mode === 'shadow')
    return plain('runs', 'in shadow: it records what it would do, and changes nothing')
  const reason = when ? 'all its conditions are met' : 'it is on for all calls'
  return {
    ...plain('runs', reason),
    effect: known ? 'known' : 'unknown',
    changes: differences(before.request, after.request),
  }
}

/** Whether chance decides: the id of a future call is not known. */
const isShared = (when: When | undefined): when is When & { percent: number } =>
  when?.percent !== undefined && when.percent > 0 && when.percent < 100
