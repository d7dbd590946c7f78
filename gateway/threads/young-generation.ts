import { setFlagsFromString } from 'node:v8'

const flag = '--max-semi-space-size='
const given = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(/\s+/)].find((option) =>
  option.startsWith(flag),
)

/** V8 takes a third of a young generation for each semi-space, and the rest for large objects. */
const partsOfYoung = 3

/**
 * Keeps a large young generation to the threads that answer calls. A size on Node's command line holds for every thread and
 * outweighs the thread's own limits, so that a thread that counts tokens, or runs a plugin, would touch and keep twice
 * `--max-semi-space-size`. Threads that run already are not concerned.
 */
export function reserveYoungGeneration(): void {
  if (given) setFlagsFromString(`${flag}0`)
}

/** MB that give a thread the young generation of the first one; undefined for that of Node. */
export function youngMbOfCalls(): number | undefined {
  return given === undefined ? undefined : partsOfYoung * Number(given.slice(flag.length))
}
