import { type Context, kernelServices, type TraceFinding } from '#kernel'
import type { AttackType } from '../attacks/attack-type.ts'

/** Where no guard of the gateway stood in the way. */
export const noGuard = 'none'

/**
 * The guard that let an attack through: one that found it and did nothing, else one that is switched on and finds what the attack is;
 * `none` where there is no such guard.
 */
export function bypassedGuard(
  { use }: Pick<Context<unknown>, 'use'>,
  { finds }: AttackType,
  findings: readonly TraceFinding[],
): string {
  const seen = findings.find(({ type }) => finds.includes(type))
  if (seen) return seen.module
  const { entries } = use(kernelServices.registry).generation
  const guards = finds.flatMap((type) => entries.filter((entry) => entry.finds === type))
  return guards[0]?.id.split('/')[0] ?? noGuard
}
