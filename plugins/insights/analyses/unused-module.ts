import type { Analysis } from '../insight.ts'

const leastCalls = 20

/** A module that is on, with hooks for calls. */
export interface ModuleRuns {
  readonly name: string
  /** Runs of its hooks since the gateway started. */
  readonly runs: number
}

/** Modules that are on and ran for no call, such as one whose `when` is never met. */
export function unusedModule(modules: readonly ModuleRuns[], startedAt: number): Analysis {
  let calls = 0
  return {
    add({ at }) {
      if (at >= startedAt) calls += 1
    },
    found() {
      if (calls < leastCalls) return []
      return modules
        .filter(({ runs }) => runs === 0)
        .map(({ name }) => ({
          type: 'unused_module' as const,
          subject: name,
          severity: 'low' as const,
          title: `The module ${name} is on and never runs`,
          description: `${name} ran for none of ${calls} calls since the gateway started. Look at its settings and its condition \`when\`, or switch it off.`,
          evidence: { module: name, calls },
          savedNano: 0,
        }))
    },
  }
}
