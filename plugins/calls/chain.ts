import {
  badRequest,
  type CallOptions,
  type Generation,
  ModelCatalogue,
  newId,
  type OwnKey,
  Pricing,
  type Stage,
  TokenCounting,
} from '#kernel'
import { costBound } from './cost-bound.ts'

/** The chain that a call runs on by its options, and the ids of the modules that it passes by. */
export function chainFor(
  generation: Generation,
  { skip = [], credential, maxCostUsd }: CallOptions,
): { readonly chain: Generation['chain']; readonly skipped: readonly string[] } {
  const skipped = checkedSkips(skip, generation)
  if (skipped.length === 0 && !credential && maxCostUsd === undefined)
    return { chain: generation.chain, skipped }
  const { services } = generation
  const facts = {
    catalogue: services.get(ModelCatalogue) as ModelCatalogue | undefined,
    prices: services.get(Pricing) as Pricing | undefined,
    tokens: services.get(TokenCounting) as TokenCounting | undefined,
  }
  const chain = generation.chainFor({
    skip: skipped,
    ownKey: credential && ownKeyOf(credential),
    before: maxCostUsd === undefined ? undefined : costBound(maxCostUsd, facts),
  })
  return { chain, skipped }
}

/** These grant access, limit and inspect: nothing passes them by. */
const guarding: readonly Stage[] = ['record', 'access', 'limits', 'inspect']

/** The modules to pass by that are there. Refuses those that guard. */
function checkedSkips(skip: readonly string[], { entries }: Generation): readonly string[] {
  const met = skip.flatMap((id) => entries.find((entry) => entry.id.split('/')[0] === id) ?? [])
  const guard = met.find(({ stage }) => guarding.includes(stage))
  if (guard)
    throw badRequest(`The module ${guard.id} guards calls, and none passes it by.`, { param: 'skip' })
  return met.map(({ id }) => id.split('/')[0]!)
}

const ownKeyOf = ({ provider, key }: NonNullable<CallOptions['credential']>): OwnKey => ({
  provider,
  key: { id: newId('key_'), secret: key, hint: '', weight: 1, owner: 'user' },
})
