import { availableParallelism } from 'node:os'
import path from 'node:path'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/suite/longest-first.ts'
import { Slowest } from './test/suite/slowest.ts'

export default defineConfig({
  test: {
    include: ['{bin,kernel,storage,modules,plugins,test,bench}/**/*.test.ts'],
    execArgv: ['--expose-gc'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 10_000 } },
    // Files share processes, so that the gateway is imported a few times and not once for each of them.
    isolate: false,
    setupFiles: ['test/suite/leftovers.ts', 'test/suite/runs.ts'],
    // Processes and workers that tests start find there what the ones before them have compiled.
    env: { NODE_COMPILE_CACHE: path.resolve('node_modules/.cache/compiled') },
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new Slowest()],
    // Much of the time is spent waiting for processes: on two cores, one worker leaves one of them idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
})
