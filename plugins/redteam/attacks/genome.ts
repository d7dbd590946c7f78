import { z } from 'zod'
import type { AttackType, Carrier, Seed } from './attack-type.ts'
import { type Conversation, conversationOf } from './conversation.ts'
import { marked } from './mark.ts'
import { systemOf } from './own-system.ts'
import { strategyOf } from './strategies.ts'
import { attackTypeOf } from './types/index.ts'

/** What an attack is made of: its conversation follows from it and from the mark. */
export const genome = z.object({
  type: z.string(),
  seed: z.string(),
  strategies: z.array(z.string()),
  /** Other words for the seed, as a model put them, with the places of the mark. */
  words: z.string().optional(),
})
export type Genome = z.infer<typeof genome>

/** Tells genomes apart. */
export const nameOf = ({ type, seed, strategies, words = '' }: Genome): string =>
  JSON.stringify([type, seed, strategies, words])

/** An attack that is ready to be sent. */
export interface BuiltAttack {
  readonly type: AttackType
  readonly seed: Seed
  readonly mark: string
  readonly system: string
  readonly payload: string
  readonly conversation: Conversation
}

/** Undefined for a genome of an earlier version whose parts are gone. */
export function build(of: Genome, mark: string, ownSystem: string | undefined): BuiltAttack | undefined {
  const type = attackTypeOf(of.type)
  const seed = type?.seeds.find(({ id }) => id === of.seed)
  if (!type || !seed) return undefined
  let payload = marked(of.words ?? seed.text, mark)
  let carrier: Carrier = type.carrier
  for (const id of of.strategies) {
    const strategy = strategyOf(id)
    if (strategy?.apply) payload = strategy.apply(payload)
    carrier = strategy?.carrier ?? carrier
  }
  const system = systemOf(type, mark, ownSystem)
  return { type, seed, mark, system, payload, conversation: conversationOf(type, system, payload, carrier) }
}
