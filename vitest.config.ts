import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{bin,kernel,storage,modules,plugins,test,bench}/**/*.test.ts'],
    execArgv: ['--expose-gc'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 10_000 } },
    // Much of the time is spent waiting for processes: on two cores, one worker leaves one of them idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
})
