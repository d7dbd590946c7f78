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

/** These choose who answers. One that fails closed holds calls to its choice, and forbids nothing by it. */
const choosing: readonly Stage[] = ['route', 'deliver']

/** Whether nothing passes a module by: it guards by its stage, says where calls may go, or would rather refuse a call than let it by. */
const isGuard = ({ stage, failure, hooks }: Generation['entries'][number]): boolean =>
  guarding.includes(stage) ||
  hooks.eligible !== undefined ||
  (failure === 'closed' && !choosing.includes(stage))

/** The modules to pass by that are there. Refuses those that guard. */
function checkedSkips(skip: readonly string[], { entries }: Generation): readonly string[] {
  const met = entries.filter(({ id }) => skip.includes(moduleOf(id)))
  const guard = met.find(isGuard)
  if (guard)
    throw badRequest(`The module ${guard.id} guards calls, and none passes it by.`, { param: 'skip' })
  return [...new Set(met.map(({ id }) => moduleOf(id)))]
}

/** The module of an entry, which may be one of its bindings. */
const moduleOf = (id: string): string => id.split('/')[0]!

const ownKeyOf = ({ provider, key }: NonNullable<CallOptions['credential']>): OwnKey => ({
  provider,
  key: { id: newId('key_'), secret: key, hint: '', weight: 1, owner: 'user' },
})
