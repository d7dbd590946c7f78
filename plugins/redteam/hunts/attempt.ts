import { type Context, newId, type Principal } from '#kernel'
import { type BuiltAttack, build, type Genome } from '../attacks/genome.ts'
import { markOf } from '../attacks/mark.ts'
import type { Asked } from '../target/said.ts'
import type { Target } from '../target/target.ts'
import { judged } from '../verdict/judge.ts'
import { type Verdict, verdictOn } from '../verdict/verdict.ts'
import { BudgetOver, type Money, type Share } from './money.ts'

/** What attacks are made with. */
export interface Means {
  readonly call: Context<unknown>['call']
  readonly target: Target
  readonly money: Money
  readonly as: Principal
  readonly ip: string
  readonly judge: string | undefined
  readonly system: string | undefined
}

export interface Attempt {
  readonly built: BuiltAttack
  readonly asked: Asked
  readonly verdict: Verdict
  /** Of the attack and of its judge. */
  readonly costNano: number
}

/** Makes an attack; undefined for a genome whose parts are gone. Rejects with `BudgetOver` where it fits in no budget. */
export async function attempt(
  means: Means,
  genome: Genome,
  origin: string,
  signal: AbortSignal,
): Promise<Attempt | undefined> {
  const built = build(genome, markOf(origin), means.system)
  if (!built) return undefined
  const { judge, target } = means
  const asked = await paid(means.money, signal, async (share) => {
    const asked = await target.ask(built.conversation, { signal, maxCostUsd: share.maxCostUsd })
    return { value: asked, costNano: asked.costNano, isDear: isDear(asked) }
  })
  const verdict = verdictOn(built, asked)
  const { said } = asked
  if (judge === undefined || verdict.status !== 'inconclusive' || said.kind !== 'answered')
    return { built, asked, verdict, costNano: asked.costNano }
  const settled = await paid(means.money, signal, async ({ maxCostUsd }) => {
    const { call, as, ip } = means
    const value = await judged(verdict, built, said, { call, model: judge, as, ip, signal, maxCostUsd })
    return { value, costNano: value.costNano, isDear: value.isDear }
  }).catch((error: unknown) => {
    // The attack itself was made, and counts as it is.
    if (error instanceof BudgetOver) return { verdict, costNano: 0 }
    throw error
  })
  return { built, asked, verdict: settled.verdict, costNano: asked.costNano + settled.costNano }
}

/** A word for what a mark is made of, which no other attack has. */
export const freshOrigin = (): string => newId('mark_')

const isDear = ({ said }: Asked): boolean => said.kind === 'failed' && said.code === 'max_cost'

interface Paid<T> {
  readonly value: T
  readonly costNano: number
  readonly isDear: boolean
}

/** Makes a call with a share of the money, and again with a larger one while it could cost more. */
async function paid<T>(
  money: Money,
  signal: AbortSignal,
  run: (share: Share) => Promise<Paid<T>>,
): Promise<T> {
  for (;;) {
    const share = await money.claim(signal)
    let spent = 0
    let mustGrow = false
    try {
      const { value, costNano, isDear } = await run(share)
      spent = costNano
      mustGrow = isDear
      if (!isDear) return value
    } finally {
      if (!mustGrow) share.settle(spent)
    }
    share.tooSmall()
  }
}
