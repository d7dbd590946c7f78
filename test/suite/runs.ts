import fc from 'fast-check'

/** How many times as often as usual each property is tried: less while one works on something, more to search by night. */
const factor = Number(process.env.PROPERTY_RUNS ?? 1)

/** How often a property is tried that needs another number of runs than the hundred that are usual. */
export const runs = (usual: number): { numRuns: number } => ({ numRuns: Math.ceil(usual * factor) })

fc.configureGlobal({ ...fc.readConfigureGlobal(), ...runs(100) })
