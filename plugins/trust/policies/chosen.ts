import { z } from 'zod'
import { notFound } from '#kernel'
import { type TrustPolicy, trustPolicy } from '#kit'
import { type CompiledPolicy, compileUnstored } from './compile.ts'
import type { Policies } from './policies.ts'

/** Which policies to try: both may be absent, for all that are in force. */
export const chosenPolicies = {
  policies: z
    .array(trustPolicy)
    .min(1)
    .max(100)
    .optional()
    .meta({ description: 'Policies to try. They need not be stored.' }),
  policy_ids: z
    .array(z.string().max(100))
    .min(1)
    .max(100)
    .optional()
    .meta({ description: 'Stored policies to try, also those that are off.' }),
}

interface Chosen {
  readonly policies?: readonly TrustPolicy[] | undefined
  readonly policy_ids?: readonly string[] | undefined
}

/** The policies that were named, or those in force. */
export function choose(
  { policies: given, policy_ids: ids }: Chosen,
  policies: Policies,
): readonly CompiledPolicy[] {
  if (given) return compileUnstored(given)
  if (!ids) return policies.inForce
  return ids.map((id) => {
    const policy = policies.get(id)
    if (!policy) throw notFound(`There is no policy ${id}.`, { param: 'policy_ids' })
    return policy
  })
}
