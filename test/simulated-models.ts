import type { RecordedRequest, Script, Upstream } from './upstream/index.ts'

/**
 * Six models whose quality is known, beside a reference model and a judge. All are asked for sums: the reference model is always right.
 */
export interface Simulated {
  /** Whether it answers a sum rightly. */
  readonly isRight: (n: number) => boolean
  /** Whether it fails instead of answering. */
  readonly fails?: (n: number) => boolean
  /** Words beside the result. */
  readonly words?: number
  /** USD per million tokens. */
  readonly price: number
  readonly capabilities: Readonly<Record<string, boolean>>
  readonly window: number
}

const always = () => true
const all = { tools: true, vision: true, json_schema: true }
const none = { tools: false, vision: false, json_schema: false }

export const simulated: Readonly<Record<string, Simulated>> = {
  'sim-reference': { isRight: always, price: 10, capabilities: all, window: 128_000 },
  'sim-good': { isRight: always, price: 1, capabilities: all, window: 128_000 },
  'sim-plain': { isRight: always, price: 0.5, capabilities: none, window: 2000 },
  'sim-wrong': { isRight: (n) => n % 5 !== 0, price: 0.1, capabilities: all, window: 128_000 },
  'sim-verbose': { isRight: () => false, words: 80, price: 0.01, capabilities: all, window: 128_000 },
  'sim-flaky': { isRight: always, fails: (n) => n % 2 === 0, price: 0.2, capabilities: all, window: 128_000 },
  'sim-dear': { isRight: always, price: 40, capabilities: all, window: 128_000 },
}

export const candidates = Object.keys(simulated).filter((name) => name !== 'sim-reference')

/** The parts of service.yaml that make the gateway know them. */
export const simulationConfig = (upstream: Upstream) => {
  const known = [
    ...Object.entries(simulated),
    ['sim-judge', { ...simulated['sim-good']!, price: 1 }] as const,
  ]
  return {
    providers: {
      sim: { type: 'openai', base_url: upstream.baseUrl(), api_key: 'sk-test', models: ['sim-*'] },
    },
    models: Object.fromEntries(
      known.map(([name, { capabilities, window }]) => [
        `sim/${name}`,
        { context_window: window, max_output_tokens: 4096, capabilities },
      ]),
    ),
    prices: Object.fromEntries(
      known.map(([name, { price }]) => [`sim/${name}`, { input_usd_per_m: price, output_usd_per_m: price }]),
    ),
  }
}

export const questionOf = (n: number): string => `What is ${n} and ${n}?`

interface Asked {
  readonly model: string
  readonly messages: readonly { readonly content: unknown }[]
}

/** How the judge of a simulation marks two answers to a sum. */
export type Marking = (isRight: { a: boolean; b: boolean }) => { a: number; b: number }

/** Marks by the result alone. */
export const fairMarking: Marking = ({ a, b }) => ({ a: a ? 0.9 : 0.1, b: b ? 0.9 : 0.1 })

/** Sums that are asked for are below it. */
const most = 100

/** Has an upstream answer as these models do; `script` may say what one of them does instead. */
export function simulate(
  upstream: Upstream,
  how: { marking?: Marking; script?: (model: string, n: number) => Script | undefined } = {},
): void {
  const { marking = fairMarking, script } = how
  const keys = new WeakMap<RecordedRequest, string>()
  const keyOf = (request: RecordedRequest): string => {
    const key = keys.get(request) ?? readKey(request.body as Asked)
    keys.set(request, key)
    return key
  }
  const reply = (key: string, answer: Script): void =>
    upstream.reply((request) => keyOf(request) === key, { ...answer, times: Number.POSITIVE_INFINITY })
  for (const a of [true, false])
    for (const b of [true, false])
      reply(`sim-judge ${a} ${b}`, { content: JSON.stringify(marking({ a, b })) })
  for (const model of Object.keys(simulated))
    for (let n = 0; n < most; n += 1) reply(`${model} ${n}`, script?.(model, n) ?? answerOf(model, n))
}

/** The model and the sum that it is asked for, or for the judge whether the answers are right. */
function readKey({ model, messages }: Asked): string {
  const text = JSON.stringify(messages.at(-1)?.content)
  const n = Number(/What is (\d+) and/.exec(text)?.[1] ?? 0)
  if (model !== 'sim-judge') return `${model} ${n}`
  const { answers } = JSON.parse(messages.at(-1)!.content as string) as { answers: { a: string; b: string } }
  const isRight = (answer: string): boolean => answer.startsWith(`It is ${2 * n}.`)
  return `sim-judge ${isRight(answers.a)} ${isRight(answers.b)}`
}

function answerOf(model: string, n: number): Script {
  const { isRight, fails, words = 0 } = simulated[model]!
  if (fails?.(n)) return { status: 500 }
  const result = isRight(n) ? 2 * n : 2 * n + 1
  return { content: `It is ${result}.${' Indeed it is so.'.repeat(words)}` }
}
