import { parseArgs } from 'node:util'

export const SCENARIOS = ['plain', 'streams', 'cold', 'start', 'modules', 'each', 'wires', 'store'] as const
export type Scenario = (typeof SCENARIOS)[number]

/** What a run of the benchmark measures, and for how long. */
export interface Settings {
  readonly scenarios: readonly Scenario[]
  readonly connections: readonly number[]
  readonly rounds: number
  /** How long each server works before the first round: compiled code is a third cheaper than fresh code. */
  readonly warmupServerMs: number
  /** How long the connections of a round work before it is measured. */
  readonly warmupMs: number
  readonly durationMs: number
  /** Rows in the store under test. */
  readonly traces: number
  readonly portkey: boolean
  /** Another checkout of this project, whose gateway is measured beside this one. */
  readonly against: string | undefined
  readonly json: boolean
  readonly quick: boolean
}

export const USAGE = `npm run bench -- [--quick] [--json] [--only plain,streams,cold,start,modules,each,wires,store]
                   [--rounds N] [--seconds S] [--traces N] [--peer portkey]
                   [--against FOLDER]`

/** Reads the command line; throws a readable error for what it does not know. */
export function readSettings(args: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      only: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      traces: { type: 'string' },
      peer: { type: 'string' },
      against: { type: 'string' },
    },
  })
  if (values.peer !== undefined && values.peer !== 'portkey') {
    throw new Error(`unknown peer ${values.peer}; the one that is known is portkey`)
  }
  const seconds = positive('seconds', values.seconds) ?? (values.quick ? 1 : 3)
  return {
    scenarios: scenariosOf(values.only),
    connections: [1, 32, 256],
    rounds: positive('rounds', values.rounds) ?? (values.quick ? 2 : 5),
    warmupServerMs: values.quick ? 2000 : 8000,
    warmupMs: values.quick ? 300 : 700,
    durationMs: seconds * 1000,
    traces: positive('traces', values.traces) ?? (values.quick ? 10_000 : 100_000),
    portkey: values.peer === 'portkey',
    against: values.against,
    json: values.json,
    quick: values.quick,
  }
}

function scenariosOf(only: string | undefined): readonly Scenario[] {
  if (only === undefined) return SCENARIOS
  return only.split(',').map((name) => {
    const scenario = SCENARIOS.find((scenario) => scenario === name)
    if (!scenario) throw new Error(`unknown scenario ${name}; known are ${SCENARIOS.join(', ')}`)
    return scenario
  })
}

function positive(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!(value > 0)) throw new Error(`--${name} takes a number above 0, not ${text}`)
  return value
}
