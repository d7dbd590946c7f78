import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { builtWorkers } from './test/suite/built.ts'
import { compiled } from './test/suite/compiled.ts'
import { Failed } from './test/suite/failed.ts'
import { LongestFirst } from './test/suite/longest-first.ts'
import { Slowest } from './test/suite/slowest.ts'

export default defineConfig({
  plugins: [builtWorkers],
  test: {
    include: [
      '{accounts,bin,config,gateway,isolation,kernel,kit,network,shadow,staging,storage,workers,modules,plugins,test,bench}/**/*.test.ts',
    ],
    execArgv: ['--expose-gc'],
    // Nobody waits for these: they end what hangs, also on machines where a process takes seconds to start.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    // Files share processes, so that the gateway is imported a few times and not once for each of them.
    isolate: false,
    setupFiles: ['test/suite/leftovers.ts', 'test/suite/runs.ts'],
    globalSetup: ['test/suite/in-memory.ts', 'test/suite/compiled.ts', 'test/suite/built.ts'],
    env: { NODE_COMPILE_CACHE: compiled },
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new Slowest(), new Failed()],
    // A worker waits for processes and providers almost half of its time: two more than there are cores keep them busy.
    maxWorkers: availableParallelism() + 2,
  },
})
