import { badRequest, tooLarge } from '#kernel'
import { type Schemas, takingTurns } from '#kit'
import { checkAssertions } from './assertion.ts'
import { callsOf, type Plan } from './plan.ts'
import { type Prompts, requestOf } from './request.ts'

/** Bytes of a plan. */
const largest = 10_000_000

/** Where the parts of a plan stand in the body that it came in. */
export interface Places {
  readonly cases: string
  readonly assertions: (at: number | undefined) => string
}

/** What a plan is checked by. */
export interface Means {
  readonly schemas: Schemas
  /** Of a run. */
  readonly maxCalls: number
}

/** Refuses a plan that cannot be carried out: every question is made once, before any is asked. */
export async function checkPlan(
  plan: Plan,
  prompts: Prompts,
  places: Places,
  { schemas, maxCalls }: Means,
): Promise<void> {
  const calls = callsOf(plan)
  if (calls > maxCalls)
    throw badRequest(
      `body ${places.cases}: that makes ${calls} calls, and a run has ${maxCalls} at the most.`,
      {
        param: places.cases,
      },
    )
  if (JSON.stringify(plan).length > largest)
    throw tooLarge(`All that a run asks may have ${largest / 1_000_000} MB.`, { param: places.cases })
  const plain = plan.cases.filter(({ assertions }) => assertions === undefined)
  await checkAssertions(
    schemas,
    plan.assertions,
    plain.map(({ expected }) => expected),
    places.assertions(undefined),
  )
  const rest = takingTurns()
  for (const [at, one] of plan.cases.entries()) {
    if (one.assertions) await checkAssertions(schemas, one.assertions, [one.expected], places.assertions(at))
    const param = `${places.cases}.${at}.messages`
    if (one.prompt !== undefined && one.messages)
      throw badRequest(`body ${param}: send either \`prompt\` or \`messages\`.`, { param })
    for (const arm of plan.arms) requestOf(arm, one, prompts, `${places.cases}.${at}`)
    await rest()
  }
}
