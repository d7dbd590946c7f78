import type { Job } from '#kernel'
import { inTurns } from '#kit'
import { nameOf } from '../attacks/genome.ts'
import { traitOf } from '../attacks/strategies.ts'
import type { AttackRow, CampaignRow } from '../campaigns/rows.ts'
import { AddressRefused } from '../target/address.ts'
import { vulnerabilityId } from '../vulnerabilities/rows.ts'
import { shownBy } from '../vulnerabilities/shown-by.ts'
import { rowOf } from './attack-row.ts'
import { type Attempt, attempt, type Means } from './attempt.ts'
import type { Hunting } from './hunting.ts'
import { BudgetOver } from './money.ts'
import { type PlannedAttack, planGeneration } from './plan.ts'
import { reworded } from './words.ts'

/** Of the attacks that have a parent, every so many one is put in other words where a model for it is named. */
const rewordEvery = 3

/** Makes the generations of a hunt, or goes on with them where a kill, a restart or a pause cut it off. */
export async function huntAll(
  hunting: Hunting,
  campaign: CampaignRow,
  means: Means,
  { signal }: Pick<Job<unknown>, 'signal'>,
): Promise<void> {
  const { store } = hunting
  const { from, generations, turn } = campaign.hunt!
  const tried = new Set<string>()
  for (let generation = 1; generation < from + generations; generation += 1) {
    const made = await store.generation(campaign.id, generation)
    if (generation >= from) {
      const parents = await store.generation(campaign.id, generation - 1)
      const plan = planFor(campaign, generation, parents, tried)
      if ((await store.campaigns.get(campaign.id))!.generation < generation)
        await store.change(campaign.id, turn, (row) => ({
          ...row,
          generation,
          planned: row.planned + campaign.hunt!.population,
        }))
      const done = new Set(made.map(({ index }) => index))
      await inTurns(
        plan.filter(({ index }) => !done.has(index)),
        hunting.settings.concurrency,
        signal,
        (planned) => makeOne(hunting, campaign, means, generation, planned, signal),
      )
    }
    for (const { genome } of await store.generation(campaign.id, generation)) tried.add(nameOf(genome))
  }
}

const planFor = (
  { seed, attack_types, strategies, languages, hunt }: CampaignRow,
  generation: number,
  parents: readonly AttackRow[],
  tried: ReadonlySet<string>,
): readonly PlannedAttack[] =>
  planGeneration({
    seed: `${seed} ${generation}`,
    types: attack_types,
    strategies,
    languages,
    population: hunt!.population,
    parents: parents.map(({ id, genome, status }) => ({ id, genome, status })),
    tried,
  })

async function makeOne(
  hunting: Hunting,
  campaign: CampaignRow,
  means: Means,
  generation: number,
  planned: PlannedAttack,
  signal: AbortSignal,
): Promise<void> {
  const { store } = hunting
  const { id, hunt, seed } = campaign
  const { turn } = hunt!
  hunting.take(hunt!.principal)
  await store.begin(id, turn)
  const origin = `${seed} ${generation} ${planned.index}`
  let made: Attempt | undefined
  let genome = planned.genome
  let wordsNano = 0
  try {
    if (hunt?.attacker !== undefined && planned.parent !== undefined && planned.index % rewordEvery === 0) {
      const { call, as, ip } = means
      const share = await means.money.claim(signal)
      const other = await reworded(genome, {
        call,
        as,
        ip,
        signal,
        model: hunt.attacker,
        maxCostUsd: share.maxCostUsd,
      }).finally(() => share.settle(wordsNano))
      wordsNano = other.costNano
      genome = other.genome
    }
    made = await attempt(means, genome, origin, signal)
  } catch (error) {
    if (error instanceof BudgetOver || error instanceof AddressRefused) await store.unbegin(id, turn)
    throw error
  }
  if (!made) return
  const row = await rowOf(hunting, campaign, generation, { ...planned, genome }, made)
  const { built, verdict, costNano } = made
  const trait = traitOf(genome.strategies)
  const guardrail = row.bypassed_guardrail
  const vulnerability = vulnerabilityId(id, genome.type, trait, guardrail ?? '')
  const shown =
    guardrail === undefined
      ? undefined
      : shownBy({
          id: vulnerability,
          attack: row.id,
          campaign: id,
          user: campaign.user_id,
          built,
          trait,
          guardrail,
        })
  await store.record(row, turn, costNano + wordsNano, shown, vulnerability)
  hunting.watchOf(id).saw(made.asked, verdict)
}
